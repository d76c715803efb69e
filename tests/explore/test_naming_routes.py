"""Naming clusters through the routes, describing them, and taking them along."""

import csv
import io
import json

import numpy as np
import pytest

import sce
from explorers import Page, bitmap, small_map
from sce import SCE, Map, load
from sce.clusters.hdbscan import find_clusters
from sce.explore.describe import effect_sizes, evenly
from sce.explore.exports import defused
from sce.explore.journal import journal_path
from sce.explore.keeper import Keeper
from sce.quality import assess, clusters_in_graph


@pytest.fixture
def page(tmp_path):
    return Page.open(small_map(tmp_path / "m.npz"))


@pytest.fixture(scope="module")
def blobs(tmp_path_factory):
    """A page of three clouds of 80 rows in five columns, with data and graph; the third column tells the first cloud apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 5)) + 12 * (np.arange(240) // 80)[:, None]
    X[:, 2] = rng.normal(size=240) + 50 * (np.arange(240) < 80)
    model = SCE(random_state=0).fit(X)
    path = tmp_path_factory.mktemp("blobs") / "blobs.npz"
    labels = np.array(["u", "v", "w"])[np.arange(240) // 80]
    Map.from_model(model, labels=labels, label_name="cloud", X=X, P=model.affinity_).save(path)
    page = Page.open(path)
    page.do("create", rows=range(80), name="first")
    page.do("create", rows=range(80, 240), name="others")
    return page


def test_what_is_saved_is_on_disk(page):
    """After the answer another process finds it in the file, with how it was made."""
    made = {"tool": "lasso", "shape": [[0, 0], [1, 0], [1, 1]], "frame": 0}
    answer = page.do("create", rows=[0, 3, 6], name="<b>", color="#ff0000", made=made)
    assert answer.status_code == 200
    told = answer.json()
    assert (told["revision"], told["undo"], told["redo"], told["writable"]) == (1, True, False, True)
    (cluster,) = told["clusters"]
    assert (cluster["name"], cluster["size"], cluster["color"]) == ("<b>", 3, "#ff0000")
    assert cluster["made"]["shape"] == made["shape"]
    reader = Keeper(page.session.path, np.arange(60))
    assert reader.document.rows(0).tolist() == [0, 3, 6]
    meta, arrays = page.arrays("/api/naming")
    assert meta == told
    assert np.flatnonzero(arrays["codes"]).tolist() == [0, 3, 6]


def test_reloading_finds_everything_again(tmp_path):
    """Also undo, in a new server."""
    page = Page.open(small_map(tmp_path / "m.npz"))
    page.do("create", rows=[1], name="a")
    page.do("create", rows=[2], name="b")
    page.session.keeper.close()
    page = Page.open(tmp_path / "m.npz")
    assert [each["name"] for each in page.arrays("/api/naming")[0]["clusters"]] == ["a", "b"]
    assert [each["name"] for each in page.do("undo").json()["clusters"]] == ["a"]
    assert [each["name"] for each in page.do("redo").json()["clusters"]] == ["a", "b"]
    assert page.get("/api/about").json()["naming"]["revision"] == 4


def test_a_stale_window_is_refused(page):
    """409 with the present state; nothing is changed, in memory or on disk."""
    page.do("create", rows=[1], name="a")
    before = journal_path(page.session.path).read_bytes()
    answer = page.do("create", base=0, rows=[2], name="b")
    assert answer.status_code == 409
    assert (answer.json()["revision"], answer.json()["clusters"][0]["name"]) == (1, "a")
    assert "another window" in answer.json()["error"]
    assert journal_path(page.session.path).read_bytes() == before


def test_a_second_server_only_shows(page):
    """423 with the reason; what the first names is seen."""
    page.do("create", rows=[1], name="a")
    second = Page.open(page.session.path)
    assert second.get("/api/about").json()["naming"]["writable"] is False
    answer = second.do("create", rows=[2], name="b")
    assert (answer.status_code, "another explorer" in answer.json()["error"]) == (423, True)
    page.do("create", rows=[2], name="b")
    assert len(second.arrays("/api/naming")[0]["clusters"]) == 2


@pytest.mark.parametrize(
    "body",
    [
        {"op": {"kind": "create", "name": "a", "rows": bitmap([1], 61)}, "base": 0},
        {"op": {"kind": "create", "name": "a", "rows": bitmap([1], 200)}, "base": 0},
        {"op": {"kind": "create", "name": "a", "rows": [1]}, "base": 0},
        {"op": {"kind": "create", "name": "a", "rows": bitmap([], 60)}, "base": 0},
        {"op": {"kind": "create", "name": "\ud800", "rows": bitmap([1], 60)}, "base": 0},
        {"op": {"kind": "start_from_found", "frame": 1}, "base": 0},
        {"op": {"kind": "start_from_found", "frame": "0"}, "base": 0},
        {"op": {"kind": "undo"}, "base": 0},
        {"op": "undo", "base": 0},
        {"base": 0},
    ],
    ids=str,
)
def test_bad_operations_change_nothing(page, body):
    """400 with a sentence, and no file."""
    answer = page.ask("POST", "/api/naming", content=json.dumps(body))
    good = body == {"op": {"kind": "create", "name": "a", "rows": bitmap([1], 61)}, "base": 0}
    assert answer.status_code == (200 if good else 400), answer.text
    assert page.session.keeper.document.revision == int(good)
    assert journal_path(page.session.path).exists() == good


def test_starting_from_found_clusters(blobs, tmp_path):
    """They are those of find_clusters, replace what was there, are in the file by their rows, and can be undone."""
    session = blobs.session
    Map(session.coordinates(0), np.arange(240)).save(tmp_path / "m.npz")
    page = Page.open(tmp_path / "m.npz")
    page.do("create", rows=[1], name="a")
    told = page.do("start_from_found").json()
    labels = find_clusters(session.coordinates(0))
    assert [each["size"] for each in told["clusters"]] == np.bincount(labels[labels >= 0]).tolist()
    assert told["note"] == "Replaced 1 cluster."
    assert np.array_equal(page.session.keeper.document.places(), labels)
    page.session.keeper.close()
    assert np.array_equal(Page.open(tmp_path / "m.npz").session.keeper.document.places(), labels)


def test_clusters_sent_by_the_page_are_not_taken_for_found(page):
    """Only the server says what was found."""
    Y = page.session.coordinates(0)
    body = {"kind": "start_from_found", "clusters": [{"name": "x", "rows": "0-59"}]}
    told = page.post("/api/naming", {"base": 0, "op": body}).json()
    assert len(told["clusters"]) == find_clusters(Y).max() + 1
    assert all(each["name"].startswith("cluster ") for each in told["clusters"])


# ----------------------------------------------------------------------------------------------------------- descriptions


def test_a_cluster_is_described_by_the_figures_of_the_command_line(blobs):
    """Conductance, share, density and verdict are those of clusters_in_graph."""
    session = blobs.session
    found = blobs.post("/api/describe", {"cluster": 0}).json()
    assert (found["size"], found["share"]) == (80, 80 / 240)
    P, labels = session.graph(), session.keeper.document.places()
    every = clusters_in_graph(P, labels)
    alone = clusters_in_graph(P, np.where(labels == 0, 0, -1))
    graph = found["graph"]
    assert graph["conductance"] == every.facts()["conductance"][0]
    assert graph["conductance_null"] == every.facts()["conductance_null"][0]
    assert (graph["share"], graph["share_null"]) == (alone.figures()["share"], alone.figures()["share_null"])
    ratio = alone.figures()["density_ratio"]
    assert graph["density_ratio"] == (ratio if np.isfinite(ratio) else None)
    assert (graph["real"], graph["no_gap_to"]) == (True, [])
    others = blobs.post("/api/describe", {"cluster": 1}).json()["graph"]
    assert others["splits"] == [80, 80]


def test_a_selection_is_judged_among_the_named_clusters(blobs):
    """Half of a cloud has no gap to the rest of it, which is named."""
    found = blobs.post("/api/describe", {"rows": bitmap(range(40), 240)}).json()["graph"]
    assert found["real"] is False
    assert found["no_gap_to"] == ["first"]
    assert found["says"].startswith("runs into first")


def test_the_columns_in_which_a_cluster_differs(blobs):
    """The column that tells it apart comes first; the classes say what it is."""
    found = blobs.post("/api/describe", {"cluster": 0}).json()
    (label,) = found["labels"]
    assert label == {"column": "cloud", "top": [{"name": "u", "count": 80, "share": 1.0, "overall": 80 / 240}]}
    assert blobs.post("/api/describe", {"cluster": 0, "graph": False}).json() == {**found, "graph": None}
    first = found["numbers"][0]
    X = blobs.session.X
    a, b = X[:80, 2], X[80:, 2]
    pooled = np.sqrt((79 * a.var(ddof=1) + 159 * b.var(ddof=1)) / 238)
    assert first["column"] == "2"
    assert first["effect"] == pytest.approx((a.mean() - b.mean()) / pooled)
    assert (first["inside"], first["outside"]) == (pytest.approx(a.mean()), pytest.approx(b.mean()))
    (category,) = found["categories"]
    assert (category["column"], category["name"], category["effect"]) == ("cloud", "u", 1.0)


def test_effect_sizes_with_gaps_and_constants():
    """NaN is left out; no deviation makes an infinite effect, no difference none."""
    inside = np.array([[1.0, np.nan, 2.0, 5.0], [3.0, 4.0, 2.0, 5.0]])
    outside = np.array([[0.0, 6.0, 2.0, 7.0], [2.0, 8.0, 2.0, 7.0]])
    effect, a, b = effect_sizes(inside, outside)
    assert effect[0] == pytest.approx(1 / np.sqrt(2))
    assert (a[1], b[1], effect[1]) == (4, 7, pytest.approx(-3 / np.sqrt(2)))
    assert effect[2:].tolist() == [0, -np.inf]
    assert len(evenly(np.arange(1000), 10)) == 10


def test_without_a_graph_the_rest_is_described(page):
    """graph is null."""
    found = page.post("/api/describe", {"rows": bitmap(range(0, 60, 3), 60)}).json()
    assert (found["graph"], found["labels"][0]["top"][0]["name"]) == (None, "left")
    assert page.post("/api/describe", {"rows": bitmap(range(60), 60)}).json()["categories"] == []
    for body in ({"rows": bitmap([], 60)}, {"cluster": 5}, {"cluster": "0"}, {}):
        assert page.post("/api/describe", body).status_code == 400


# ---------------------------------------------------------------------------------------------------------------- exports


def test_labels_as_csv_are_safe_and_complete(tmp_path):
    """A row for each point; formulas get an apostrophe, numbers stay numbers."""
    ids = np.array([f"=HYPERLINK({k})" if k % 2 else f"-{k}.5" for k in range(60)])
    page = Page.open(small_map(tmp_path / "m.npz", ids=ids))
    page.do("create", rows=[0, 1], name='@sum, "quoted"')
    answer = page.get("/api/export", what="labels", format="csv")
    assert answer.headers["content-disposition"].startswith('attachment; filename="m.labels.csv"')
    assert answer.headers["content-type"].startswith("text/csv")
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(lines) == 60
    assert (lines[1]["id"], lines[2]["id"]) == ("'=HYPERLINK(1)", "-2.5")
    assert [line["cluster"] for line in lines[:3]] == ['\'@sum, "quoted"', '\'@sum, "quoted"', ""]
    assert np.float32(lines[5]["x"]) == page.session.coordinates(0)[5, 0]
    assert lines[0]["where"] == "left"


def test_a_name_of_a_column_may_be_a_formula(tmp_path):
    """The first line is cells, too."""
    page = Page.open(small_map(tmp_path / "m.npz", label_name="=cmd"))
    assert page.get("/api/export", what="labels", format="csv").text.splitlines()[0] == "id,x,y,'=cmd,cluster"


@pytest.mark.parametrize("text", ["=1", "+cmd", "-cmd", "@x", "\t=1", "\r=1", " =1", "\uff1d1"])
def test_formulas_are_defused(text):
    """With all beginnings that spreadsheets take for one."""
    assert defused(np.array([text], object)).tolist() == [f"'{text}"]


def test_labels_as_parquet_are_exact(tmp_path):
    """Types say what is text."""
    import pyarrow.parquet as pq

    page = Page.open(small_map(tmp_path / "m.npz", ids=np.array([f"={k}" for k in range(60)])))
    page.do("create", rows=[4], name="four")
    found = pq.read_table(io.BytesIO(page.get("/api/export", what="labels", format="parquet").content)).to_pydict()
    assert found["id"][4] == "=4"
    assert found["cluster"] == [None] * 4 + ["four"] + [None] * 55


def test_the_exported_map_is_a_map_with_the_clusters(blobs, tmp_path, sce):
    """The command line reads it, with the graph, and shows the clusters."""
    (tmp_path / "named.npz").write_bytes(blobs.get("/api/export", what="map", format="npz").content)
    named = load(tmp_path / "named.npz")
    assert np.unique(named.labels).tolist() == ["first", "others"]
    assert named.P is not None
    assert np.array_equal(named.Y, blobs.session.coordinates(0))
    said = sce("quality", "named.npz", "--clusters", "classes", "--json")
    assert said.code == 0, said.err


def test_exported_labels_give_the_same_figures_on_the_command_line(blobs, tmp_path, sce):
    """What the page says of clusters is what `sce quality` says of the exported file."""
    blobs_map = blobs.session.path
    (tmp_path / "lasso.csv").write_bytes(blobs.get("/api/export", what="labels", format="csv").content)
    said = json.loads(sce("quality", blobs_map, "--clusters", "lasso.csv:cluster", "--json").out)
    page = json.loads(blobs.get("/api/export", what="figures", format="json").content)
    assert page["figures"] == said["figures"]
    assert page["story"] == said["story"]
    assert page["clusters"] == said["clusters"]
    described = blobs.post("/api/describe", {"cluster": 0}).json()["graph"]
    assert described["conductance"] == said["clusters"]["conductance"][0]


def test_figures_without_data_or_graph(page):
    """What is missing is said."""
    found = json.loads(page.get("/api/export", what="figures", format="json").content)
    expected = assess(page.session.coordinates(0), classes=page.session.result.labels, labels=np.full(60, -1))
    assert found["missing"] == expected.missing
    assert found["figures"] == expected.figures()


def test_rows_of_a_selection_and_of_a_cluster(tmp_path):
    """Ids, so that a colleague can repeat it."""
    page = Page.open(small_map(tmp_path / "m.npz", ids=np.array([f"id{k}" for k in range(60)])))
    page.do("create", rows=[5, 6], name="a")
    answer = page.post("/api/export", {"rows": bitmap([3, 50], 60), "format": "json"})
    assert answer.json() == {"rows": [3, 50], "ids": ["id3", "id50"]}
    assert page.post("/api/export", {"rows": bitmap([3], 60)}).text == "id,row\nid3,3\n"
    assert page.get("/api/export", what="rows", format="csv", cluster=0).text == "id,row\nid5,5\nid6,6\n"


def test_names_of_downloads_are_plain(tmp_path):
    """Whatever the file is called, the header is one line."""
    page = Page.open(small_map(tmp_path / 'a"; x=\u00e9.npz'))
    header = page.get("/api/export", what="labels", format="csv").headers["content-disposition"]
    assert header == "attachment; filename=\"a__ x__.labels.csv\"; filename*=UTF-8''a%22%3B%20x%3D%C3%A9.labels.csv"


def test_a_sweep_can_be_named(tmp_path):
    """The clusters are of the points, whatever the frame; the exported map is the frame that was asked for."""
    rng = np.random.default_rng(0)
    sce.Sweep(rng.normal(size=(3, 40, 2)).astype(np.float32), np.arange(3.0), np.arange(40)).save(tmp_path / "s.npz")
    page = Page.open(tmp_path / "s.npz")
    assert page.do("create", rows=[1, 2], name="a", made={"tool": "box", "frame": 2}).status_code == 200
    (tmp_path / "m.npz").write_bytes(page.get("/api/export", what="map", format="npz", frame=2).content)
    assert np.array_equal(sce.load(tmp_path / "m.npz").Y, page.session.coordinates(2))
