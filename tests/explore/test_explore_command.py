"""`sce explore`: what it opens and serves, and how it refuses. The server itself is replaced."""

import pytest

import sce.explore.app as app_of_sessions
from explorers import small_map
from processes import run
from sce.cli.commands import explore


@pytest.fixture
def served(monkeypatch):
    """What would be served: the arguments of `serve`, and the application that it would make."""
    found = {}

    def serve(app_factory, **options):
        found.update(options, app=app_factory(token="t", port=5))

    monkeypatch.setattr(app_of_sessions, "serve", serve)
    monkeypatch.setattr(app_of_sessions, "Guard", lambda app, **options: (app, options))
    return found


def test_a_map_is_served(tmp_path, sce, served):
    """To this machine, behind the guard, and the result says where the clusters are."""
    small_map(tmp_path / "m.npz")
    said = sce("explore", "m.npz", "--no-browser", "--port", "8000", "--json")
    assert said.code == 0, said.err
    assert (served["host"], served["port"], served["open_browser"]) == ("127.0.0.1", 8000, False)
    app, options = served["app"]
    assert app.state.session.n == 60
    assert options == {
        "token": "t",
        "port": 5,
        "hosts": ("127.0.0.1", "localhost", "[::1]"),
        "max_body": (1 << 20) + 15,
    }
    assert '"file": "m.clusters.jsonl"' in said.out


def test_a_data_set_is_embedded_first(tmp_path, sce, served):
    """With a line that says so, and a map in the folder."""
    said = sce("explore", "digits")
    assert said.code == 0, said.err
    assert "Embedding digits first" in said.err
    assert (tmp_path / "digits.map.npz").exists()
    app, _ = served["app"]
    assert app.state.session.about()["has"] == {"data": True, "graph": True, "thumbnails": {"width": 8, "height": 8}}


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["m.npz", "--port", "70000"], 2, "--port takes a number from 0 to 65535"),
        (["nowhere.npz"], 3, "There is no file nowhere.npz"),
        (["m.npz", "--images", "big"], 2, "--images"),
        (["m.npz", "--columns", "a"], 3, "--data"),
        (["m.npz", "--labels", "nowhere.csv"], 3, "nowhere.csv"),
        (["m.npz", "--data", "nowhere.csv"], 3, "nowhere.csv"),
        (["m.npz", "--graph", "nowhere.npz"], 3, "nowhere.npz"),
    ],
)
def test_wrong_usage_is_a_sentence(tmp_path, sce, served, words, code, text):
    """In the words of the command line, before anything is served."""
    small_map(tmp_path / "m.npz")
    said = sce("explore", *words)
    assert (said.code, text in said.err, served) == (code, True, {}), said.err
    assert said.err.count("\n") == 1


def test_a_damaged_file_of_clusters_is_told_at_once(tmp_path, sce, served):
    """Before the page is opened."""
    small_map(tmp_path / "m.npz")
    (tmp_path / "m.clusters.jsonl").write_text("{}\n")
    said = sce("explore", "m.npz")
    assert (said.code, "not a file of named clusters" in said.err, served) == (3, True, {})


def test_without_the_extra_it_says_how_to_install_it(sce, monkeypatch):
    """pip install 'sce[web]'."""
    monkeypatch.setattr(explore, "find_spec", lambda name: None)
    said = sce("explore", "m.npz")
    assert (said.code, "pip install 'sce[web]'" in said.err) == (2, True)


def test_nothing_else_needs_the_extra():
    """`import sce` and --help load neither starlette nor uvicorn."""
    code = "from sce.cli.main import main; import sce, sys; main(['--help']); main(['explore', '--help']);"
    loaded = "print([name for name in ('starlette', 'uvicorn', 'httpx') if name in sys.modules])"
    assert run(f"{code} {loaded}").splitlines()[-1] == "[]"
