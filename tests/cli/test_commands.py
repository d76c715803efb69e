"""`sce plot`, `sce info`, `sce demo`, help, and the page of commands."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sce as package
from sce.cli.catalog import COMMANDS, EXIT_CODES
from sce.cli.reference import page

DOCS = Path(__file__).parent.parent.parent / "docs" / "commands.md"


@pytest.fixture
def drawn(sce, table):
    """map.npz of the table."""
    assert sce("embed", "data.csv", "-o", "map.npz", "--quiet").code == 0


@pytest.mark.parametrize(("name", "first"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")])
def test_plot_writes_pictures(sce, drawn, tmp_path, name, first):
    """Of three kinds; the same map gives the same bytes."""
    assert sce("plot", "map.npz", "-o", name).code == 0
    content = (tmp_path / name).read_bytes()
    assert content.startswith(first)
    assert sce("plot", "map.npz", "-o", name).code == 0
    assert (tmp_path / name).read_bytes() == content


def test_plot_by_labels_numbers_or_nothing(sce, drawn, tmp_path):
    """The legend has the classes of the map; labels may come from elsewhere, from the picture itself, or not at all."""
    (tmp_path / "more.csv").write_text("age,group\n" + "".join(f"{i / 3},{'xyz'[i % 3]}\n" for i in range(80)))

    def words(*options):
        assert sce("plot", "map.npz", "-o", "a.svg", *options).code == 0
        text = (tmp_path / "a.svg").read_text()
        return [word for word in ("u", "v", "x", "y", "z", "0", "10", "20") if f">{word}</text>" in text]

    assert words() == ["u", "v"]
    assert words("--labels", "none") == []
    assert words("--labels", "more.csv:group") == ["x", "y", "z"]
    assert words("--labels", "more.csv:age") == ["0", "10", "20"]
    assert words("--labels", "clusters") == ["0"]
    assert sce("plot", "map.npz", "--labels", "more.csv:ag").code == 3


def test_plot_options(sce, drawn, tmp_path):
    """Size, opacity, title, width and resolution reach the picture; bad ones are refused."""
    from matplotlib.image import imread

    assert (
        sce(
            "plot", "map.npz", "--title", "Hello", "--size", "3", "--opacity", "0.5", "--width", "4", "--dpi", "50"
        ).code
        == 0
    )
    assert abs(max(imread(tmp_path / "map.png").shape) - 200) < 60
    assert sce("plot", "map.npz", "--dpi", "5").code == 2
    assert sce("plot", "map.npz", "--opacity", "2").code == 2
    assert sce("plot", "map.npz", "--kind", "clases").code == 2


def test_plot_colours_and_names(sce, drawn, tmp_path):
    """Reach the picture; what the labels have no use for is refused in the words of the command line."""

    def picture(*options):
        assert sce("plot", "map.npz", "-o", "a.svg", *options).code == 0
        return (tmp_path / "a.svg").read_text().lower()

    assert "#ff0000" in picture("--palette", "red,#00ff00")
    assert "#ff0000" not in picture("--palette", "red,#00ff00", "--highlight", "v")
    assert "#ff0000" in picture("--palette", "v=red,u=blue", "--highlight", "v")
    assert ">others</text>" in picture("--highlight", "v")
    assert "#16181d" in picture("--theme", "dark", "--names")
    assert "#66c2a5" in picture("--palette", "Set2")
    for options, message in (
        (["--highlight", "w"], "--highlight must name classes; 'w' is none of u, v."),
        (["--colormap", "magma"], "--colormap must be left out: the labels are classes; use --palette"),
        (["--labels", "none", "--names"], "--names must be left out"),
    ):
        said = sce("plot", "map.npz", *options)
        assert said.code == 2
        assert message in said.err


@pytest.mark.parametrize("command", ["embed", "sweep"])
def test_colours_are_checked_before_the_work(sce, table, tmp_path, command):
    """Nothing is written where the picture could not be drawn; and without a picture they have no use."""
    for options, message in (
        (["--plot", "a.png", "--highlight", "w"], "'w' is none of u, v."),
        (["--theme", "dark"], "--theme is for the picture; add --plot FILE, or leave it out."),
    ):
        said = sce(command, "data.csv", "-o", "made.npz", "--quiet", *options)
        assert said.code == 2
        assert message in said.err
    assert not (tmp_path / "made.npz").exists()
    options = ["--palette", "red,blue", "--theme", "dark", "--names"]
    assert sce(command, "data.csv", "-o", "made.npz", "--quiet", "--plot", "a.svg", *options).code == 0
    assert "#ff0000" in (tmp_path / "a.svg").read_text()


def test_maps_with_dates(sce, tmp_path):
    """Dates stay dates in a map: a colour bar in the picture, the range in sce info, the days in an export."""
    model = package.SCE(random_state=0, n_epochs=2).fit(np.random.default_rng(0).normal(size=(60, 3)))
    labels = np.datetime64("2020-01-01", "ns") + np.arange(60) * np.timedelta64(10, "D")
    labels[0] = "NaT"
    for given in (labels, labels.astype("datetime64[us]").astype(object)):
        package.Map.from_model(model, labels=given, label_name="day").save(tmp_path / "map.npz")
        back = package.load("map.npz").labels
        assert back.dtype.kind == "M"
        np.testing.assert_array_equal(back, labels)
        assert (
            "day: 1 rows without a label, 59 distinct dates from 2020-01-11 to 2021-08-13\n"
            in sce("info", "map.npz").out
        )
        assert sce("plot", "map.npz", "-o", "a.svg").code == 0
        assert ">2021-01" in (tmp_path / "a.svg").read_text()
        assert sce("export", "map.npz").code == 0
        assert (tmp_path / "map.csv").read_text().splitlines()[2].endswith(",2020-01-11")
        (tmp_path / "map.csv").unlink()


def test_maps_of_one_and_three_dimensions(sce, table, tmp_path):
    """Can be drawn as well."""
    for d in (1, 3):
        assert sce("embed", "data.csv", "-o", "m.npz", "--n-components", d, "--quiet", "--plot", "m.png").code == 0
        assert (tmp_path / "m.png").stat().st_size > 3000


def test_info(sce, drawn):
    """What people read, and the same as JSON."""
    said = sce("info", "map.npz")
    assert said.code == 0
    for line in ("points:      80", "labels:      kind: 2 classes: u (40), v (40)", "data:        data.csv"):
        assert line in said.out.splitlines()
    facts = json.loads(sce("info", "map.npz", "--json").out)
    assert (facts["points"], facts["parameters"]["alpha"]) == (80, 0.05)


def test_info_on_a_map_made_in_python(sce, tmp_path):
    """With labels that are numbers, some of them missing."""
    model = package.SCE(random_state=0, n_epochs=2).fit(np.random.default_rng(0).normal(size=(50, 3)))
    labels = np.where(np.arange(50) % 7 == 0, np.nan, np.arange(50) / 2)
    package.Map.from_model(model, labels=labels).save(tmp_path / "map.npz")
    assert "distinct numbers from 0.5 to 24\n" in sce("info", "map.npz").out


def test_export(sce, drawn, tmp_path):
    """A table that sce itself reads back: coordinates exactly, ids, labels, clusters."""
    said = sce("export", "map.npz", "--clusters")
    assert said.code == 0, said.err
    made, back = package.load("map.npz"), package.read(tmp_path / "map.csv", labels="kind")
    assert back.names == ["x", "y", "cluster"]
    assert (back.X[:, :2].astype(np.float32) == made.Y).all()
    assert back.X[:, 2].tolist() == package.find_clusters(made).tolist()
    assert back.labels.tolist() == made.labels.tolist()
    assert (back.ids == made.ids).all()
    assert "2 clusters found, 0.0% of the points in none" in said.out
    assert json.loads(sce("export", "map.npz", "-o", "map.tsv", "--json").out)["columns"] == ["id", "x", "y", "kind"]
    assert sce("export", "map.npz", "map.parquet", "--clusters").code == 0
    again = package.read(tmp_path / "map.parquet", labels="kind")
    assert (again.X[:, :2].astype(np.float32) == made.Y).all()
    assert again.ids.tolist() == back.ids.tolist()
    assert sce("export", "map.npz", "a.csv", "-o", "b.csv").err.startswith(
        "sce: The table is named twice, a.csv and --output"
    )
    assert "must end in .csv or .tsv or .parquet" in sce("export", "map.npz", "map.xlsx").err


def test_demo(sce, tmp_path):
    """Leaves data to go on with, a map and a picture."""
    said = sce("demo")
    assert said.code == 0, said.err
    assert (tmp_path / "digits.png").stat().st_size > 20_000
    made = package.load("digits.map.npz")
    assert made.Y.shape == (1797, 2)
    assert len(np.unique(made.labels)) == 10
    table = package.read("digits.csv")
    assert (table.X.shape, table.label_name) == ((1797, 64), "label")


def test_the_page_of_commands_is_up_to_date():
    """Every command and option is on it: it is made by `python -m sce.cli.reference`."""
    if not DOCS.exists():
        pytest.skip("the tests run without the documentation")
    assert DOCS.read_text() == page(), "run: python -m sce.cli.reference > docs/commands.md"
    for command in COMMANDS:
        assert f"## sce {command.name}\n" in page()
        assert all(f"`{option.usage}`" in page() for option in command.options)
    assert all(f"| {code} |" in page() for code in EXIT_CODES)


def shown(option, text):
    """Whether a help describes an option."""
    name = re.escape(option.metavar if option.is_argument else option.name)
    return re.search(rf"^  (-\w \S+, )?{name}( |$)", text, re.MULTILINE) is not None


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_help(sce, words):
    """Of sce itself."""
    said = sce(*words)
    assert (said.code, said.err) == (0, "")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_of_commands(sce, command):
    """--help shows at most a dozen options where there are many, and where to find the others; --help-all shows all."""
    said = sce(command.name, "--help")
    assert (said.code, said.err) == (0, "")
    assert [option.name for option in command.options if shown(option, said.out)] == [
        option.name for option in command.options if not command.first or option.name in command.first
    ]
    assert ("--help-all" in said.out) == bool(command.first)
    assert set(command.first) <= {option.name for option in command.options}
    assert len(command.first) <= 12
    if command.first:
        full = sce(command.name, "--help-all")
        assert (full.code, full.err) == (0, "")
        assert all(shown(option, full.out) for option in command.options)
        assert f"{len(command.options) - len(command.first)} more options" in said.out
        assert "more options" not in full.out


def test_letters_that_the_terminal_does_not_have(sce, table, tmp_path):
    """Are written as codes, not as an error."""
    text = (tmp_path / "data.csv").read_text().replace(",u\n", ",中\n")
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    assert sce("embed", "data.csv", "-o", "map.npz", "--quiet").code == 0
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "ascii"}
    words = [sys.executable, "-m", "sce", "info", "map.npz"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u4e2d (40)" in done.stdout


def test_titles_are_taken_literally(sce, drawn):
    """No mathematics in dollars."""
    assert sce("plot", "map.npz", "--title", r"cost $\foo$ in $").code == 0


def test_export_does_not_replace_the_data(sce, table, tmp_path):
    """By its default name; an export of ours is replaced, and any file that is named."""
    before = (tmp_path / "data.csv").read_text()
    assert sce("embed", "data.csv", "-o", "data.npz", "--quiet").code == 0
    said = sce("export", "data.npz")
    assert said.err == "sce: data.csv exists and was not exported by sce; choose another name with -o.\n"
    assert (tmp_path / "data.csv").read_text() == before
    assert sce("export", "data.npz", "-o", "out.csv").code == sce("export", "data.npz", "-o", "out.csv").code == 0
