"""Messages of the library name parameters, those of the command line name options."""

import ast
import re
from pathlib import Path

import pytest

import sce
from sce.cli.catalog import COMMANDS
from sce.cli.spelling import as_options

SOURCE = Path(sce.__file__).parent
OPTIONS = {option.key: option for command in COMMANDS for option in command.options if not option.is_argument}
PARAMETER = re.compile(rf"(?<![\w.'\"(])({'|'.join(OPTIONS)})=")
# Options named outside of cli/: in command lines to type.
ALLOWED = {
    "results/archive.py": "--upgrade",  # of pip
    "results/graphs.py": "--keep-graph",
}


def messages(path):
    """The texts of a module as a reader sees them, without docstrings; FILLED stands for what is filled in."""
    tree = ast.parse(path.read_text())
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in documentation or id(node) in parts:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(_filled(part) for part in node.values)


def _filled(part):
    if isinstance(part, ast.Constant):
        return part.value
    return "'FILLED'" if part.conversion == ord("r") else "FILLED"


def test_no_message_outside_of_the_command_line_names_an_option():
    """But a parameter, which the command line translates."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("cli/") and "--" in path.read_text():
            allowed = ALLOWED.get(name, "").split()
            options = [word for text in messages(path) for word in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text)]
            found[name] = [option for option in options if option not in allowed]
    assert {name: options for name, options in found.items() if options} == {}


DATA_MESSAGES = sorted(
    {text for path in (SOURCE / "data").rglob("*.py") for text in messages(path) if PARAMETER.search(text)}
)


@pytest.mark.parametrize("text", DATA_MESSAGES)
def test_every_parameter_in_the_messages_of_the_data_room_becomes_an_option(text):
    """Each mention, with its value in the way of a shell."""
    told = as_options(text)
    names = PARAMETER.findall(text)
    assert not PARAMETER.search(told), told
    assert [told.count(f"{OPTIONS[name].name}") >= names.count(name) for name in names] == [True] * len(names)
    assert "True" not in told


def test_the_messages_of_the_data_room_are_found():
    """So that the test above cannot pass by finding nothing."""
    assert len(DATA_MESSAGES) >= 18
    named = {name for text in DATA_MESSAGES for name in PARAMETER.findall(text)}
    assert named >= {"missing", "log1p", "normalize", "one_hot", "pca", "columns", "drop", "labels", "ids", "weights"}
    assert named >= {"array", "transpose", "decimal_comma", "header"}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ('add missing="median" here', "add --missing median here"),
        ("leave it out with drop=['b'].", "leave it out with --drop b."),
        ("drop=['a b', 'c'] or drop=[\"it's\"]", "--drop 'a b,c' or --drop 'it'\"'\"'s'"),
        ("drop=['a,b']", "--drop '\"a,b\"'"),
        ("labels='my file.csv:age'", "--labels 'my file.csv:age'"),
        ("pca=50, or pca=0.", "--pca 50, or --pca 0."),
        ("with columns= and drop=; or array=: it has", "with --columns and --drop; or --array: it has"),
        ("add one_hot=True to", "add --one-hot to"),
        ("alpha must be a number; got 2.0.", "--alpha must be a number; got 2.0."),
        ("random_state must be whole", "--seed must be whole"),
        ("n_neighbors=15 was lowered to 3", "--n-neighbors 15 was lowered to 3"),
        ('exaggeration=2.0 needs scale="sne"; got scale=None.', "--exaggeration 2.0 needs --scale sne; got scale=None."),
        ("perplexity=1e-3 and tol=-2.5e10.", "--perplexity 1e-3 and --tol -2.5e10."),
    ],
)  # fmt: skip
def test_forms_of_parameters(told, expected):
    """With text, lists, numbers, flags, alone, and at the beginning of a check."""
    assert as_options(told) == expected


@pytest.mark.parametrize(
    "text",
    [
        "pca=3.csv is empty",
        "runs/seed=1/data.csv has no rows",
        "column 'drop=3' holds text",
        "gsne:alpha=3: done before",
        "sce-alpha=0.5: done before",
        "call SCE(alpha=0.5) instead",
        "the labels must be text",
        "X=3 and unknown=4",
    ],
)
def test_what_is_not_a_parameter_stays(text):
    """File names, quotations, methods and code."""
    assert as_options(text) == text
