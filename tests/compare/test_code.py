"""Old results are valid as long as the code that made them is, with everything of sce that it imports."""

import re
import shutil
from pathlib import Path

import pytest

import sce
from sce.compare.code import code_of, imports_of_sce, own_code
from sce.compare.methods import METHODS
from sce.compare.run import QUALITY_MODULES
from sce.compare.shared_graph import GRAPH_MODULES
from sce.core.sources import Sources

RESULTS = {"map": ("sce.compare.own",), "P": GRAPH_MODULES, "figures": QUALITY_MODULES}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package."""
    folder = tmp_path_factory.mktemp("code") / "sce"
    shutil.copytree(Path(sce.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def changed(package):
    """A function that edits a file of the copy and returns the results that this invalidates; then undoes it."""

    def change(file, edit):
        path = package / file
        before, old = path.read_text(encoding="utf-8"), state(package)
        assert edit(before) != before
        path.write_text(edit(before), encoding="utf-8")
        new = state(package)
        path.write_text(before, encoding="utf-8")
        return {name for name in RESULTS if new[name] != old[name]}

    return change


def state(package):
    """The fingerprints of all results, by the files of a package."""
    sources = Sources(package)
    return {name: own_code(modules, sources) for name, modules in RESULTS.items()}


def test_a_copy_has_the_fingerprints_of_the_package(package):
    """They do not depend on the folder."""
    assert state(package) == {name: own_code(modules) for name, modules in RESULTS.items()}


@pytest.mark.parametrize("file", ["core/simd.py", "core/compiled.py", "core/validate.py", "core/random.py"])
def test_a_changed_kernel_invalidates_everything(changed, file):
    """So do the helpers that all kernels and checks are made of, which lists of files used to miss."""
    assert changed(file, lambda text: text + "\nADDED = 1\n") == {"map", "P", "figures"}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("layout/gradient/terms.py", {"map"}),
        ("graph/index.py", {"map", "P"}),
        ("quality/communities.py", {"figures"}),
        ("cli/main.py", set()),
        ("plot/scatter.py", set()),
        ("compare/page.py", set()),
        ("compare/methods.py", set()),
    ],
)
def test_only_what_depends_on_a_file_is_invalidated(changed, file, expected):
    """The rest is used again."""
    assert changed(file, lambda text: text + "\nADDED = 1\n") == expected


def test_a_changed_constant_counts_and_prose_does_not(changed):
    """Docstrings, comments and layout may change."""
    file = "core/validate.py"
    assert changed(file, lambda text: re.sub(r"(?m)^(\w+ = )(\d)", r"\g<1>9\2", text, count=1))
    assert not changed(file, lambda text: text.replace('"""', '"""Other words. ', 1))
    assert not changed(file, lambda text: text + "\n\n# A remark.\n")


def test_the_lists_name_modules_that_exist():
    """A list that is out of date is an error, not an empty list."""
    with pytest.raises(KeyError):
        own_code(["sce.no_such_module"])


def test_a_method_of_sce_depends_on_its_own_imports():
    """openTSNE's results do not depend on our estimator."""
    codes = {name: code_of(method.function) for name, method in METHODS.items()}
    assert codes["tsne"] == own_code(["sce.compare.tsne"])
    assert codes["sce"] == own_code(["sce.compare.own", "sce.estimator"])
    assert codes["largevis"] != codes["tsne"]


def test_a_method_of_a_user_depends_on_its_file_and_on_what_it_imports_of_sce(tmp_path, monkeypatch):
    """A broken file is no reason to stop: its process will say what is wrong."""
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "users_own_method.py"

    def code(text):
        path.write_text(text)
        return code_of("users_own_method:fit")

    first = code("def fit(problem):\n    return 1\n")
    assert code("def fit(problem):\n    '''Fit.'''\n    return 1  # one\n") == first
    assert code("def fit(problem):\n    return 2\n") != first
    with_import = "from sce.quality import assess\ndef fit(problem):\n    return 1\n"
    assert imports_of_sce(with_import) == ["sce.quality.report"]
    assert code(with_import) != first
    assert code("def fit(problem:\n") != first
    assert code("from sce.gone import x\nimport sce.gone\ndef fit(problem):\n    return 1\n") != first
    assert code_of("no_such_users_module:fit") == "no_such_users_module:fit"
