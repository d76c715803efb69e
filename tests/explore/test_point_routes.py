"""What the page asks about points: right answers, and right refusals for everything else."""

import asyncio
import datetime as dt
import json
import threading

import httpx
import numpy as np
import pytest

import sce
from explorers import Page, bitmap, small_map
from sce import SCE, Map
from sce.clusters.hdbscan import find_clusters
from sce.explore import near, quality_routes
from sce.explore.near import nearest_rows
from sce.explore.requests import RequestError, rows_of_bitmap
from sce.quality import points
from sce.quality.block_density import block_density, density_limits


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A page of a part of the digits, with data and graph."""
    X, y = sce.datasets.load("digits")
    X, y = X[:600], y[:600]
    model = SCE(random_state=0).fit(X)
    path = tmp_path_factory.mktemp("digits") / "digits.npz"
    Map.from_model(model, labels=y, label_name="digit", X=X, P=model.affinity_).save(path)
    return Page.open(path)


@pytest.fixture
def page(tmp_path):
    return Page.open(small_map(tmp_path / "m.npz"))


def test_about_says_what_there_is(digits, page):
    """JSON that any browser reads, without NaN."""
    about = digits.get("/api/about")
    found = json.loads(about.text, parse_constant=pytest.fail)
    assert (found["n"], found["dims"], found["label"], found["frames"]) == (600, 2, "digit", None)
    assert found["has"] == {"data": True, "graph": True, "thumbnails": {"width": 8, "height": 8}}
    assert found["naming"] == {"revision": 0, "writable": True}
    assert page.get("/api/about").json()["has"] == {"data": False, "graph": False, "thumbnails": None}


def test_maps_of_one_and_three_dimensions(tmp_path):
    """The container says how many, two where there is one; one point and equal points work."""
    for d in (1, 2, 3):
        for Y in (
            np.arange(4 * d, dtype=np.float32).reshape(4, d),
            np.ones((4, d), np.float32),
            np.ones((1, d), np.float32),
        ):
            Map(Y, np.arange(len(Y))).save(tmp_path / "d.npz")
            meta, arrays = Page.open(tmp_path / "d.npz").arrays("/api/points")
            assert arrays["xy"].shape == (len(Y), max(d, 2)) == (meta["n"], meta["dims"])
            shown = np.array(meta["low"]) + meta["step"] * arrays["xy"]
            assert np.allclose(shown[:, :d], Y, atol=meta["step"])


def test_columns_by_name(digits):
    """The label as classes; an unknown one is 404."""
    meta, arrays = digits.arrays("/api/column", name="digit")
    assert meta["names"] == [str(k) for k in range(10)]
    assert np.array_equal(arrays["codes"], digits.session.result.labels + 1)
    assert digits.get("/api/column", name="nowhere").status_code == 404


def test_found_clusters_are_those_of_the_command_line(digits):
    """find_clusters with its defaults."""
    _, arrays = digits.arrays("/api/found")
    assert np.array_equal(arrays["codes"].astype(int) - 1, find_clusters(digits.session.coordinates(0)))


@pytest.mark.parametrize("name", ["neighbors_kept", "edges_cut", "edges_stretched"])
def test_figures_of_points_are_those_of_the_command_line(digits, name):
    """sce.quality.points with the clusters on the map."""
    session = digits.session
    expected = points(session.coordinates(0), X=session.X, P=session.graph()).columns()[name]
    _, arrays = digits.arrays("/api/quality", name=name)
    assert np.array_equal(arrays["values"], expected.astype(np.float32))


def test_figures_that_need_more_are_refused(page):
    """With what there is."""
    answer = page.get("/api/quality", name="neighbors_kept")
    assert (answer.status_code, "neither data nor a graph" in answer.json()["error"]) == (404, True)
    for address in ("/api/blocks", "/api/neighbors?row=1"):
        assert page.get(address).status_code == 404


def test_neighbours_are_those_in_the_data(digits):
    """Against all distances; the row itself is not among them."""
    X = digits.session.X
    for row in (0, 17, 599):
        found = digits.get("/api/neighbors", row=row).json()
        distance = ((X - X[row]) ** 2).sum(axis=1)
        distance[row] = np.inf
        assert found["from"] == "data"
        assert np.array_equal(np.sort(distance[found["rows"]]), np.sort(distance)[:15])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "braycurtis"])
@pytest.mark.parametrize("sparse", [False, True])
def test_neighbours_are_exact_in_any_metric(monkeypatch, metric, sparse):
    """As scikit-learn measures them, also block by block."""
    from scipy.sparse import csr_matrix
    from sklearn.metrics import pairwise_distances

    if sparse and metric == "braycurtis":
        pytest.skip("scikit-learn has none for sparse rows")
    X = np.random.default_rng(0).poisson(2.0, (90, 6)).astype(float) + 0.1
    given = csr_matrix(X) if sparse else X
    whole = nearest_rows(given, metric, 11, 15)
    monkeypatch.setattr(near, "_VALUES_AT_ONCE", 50)
    assert nearest_rows(given, metric, 11, 15).tolist() == whole.tolist()
    distance = pairwise_distances(X, metric=metric)[11]
    distance[11] = np.inf
    assert np.allclose(distance[whole], np.sort(distance)[:15])
    assert len(nearest_rows(X[:5], metric, 1, 15)) == 4


def test_neighbours_without_data_are_the_heaviest_edges(tmp_path, graph):
    """In the order of their weights."""
    P = graph(60, 5)
    page = Page.open(small_map(tmp_path / "g.npz", P=P))
    dense = P.toarray()
    np.fill_diagonal(dense, 0)
    found = page.get("/api/neighbors", row=7).json()
    assert found["from"] == "graph"
    expected = np.sort(dense[7][dense[7] > 0])[::-1][:15]
    assert np.allclose(dense[7][found["rows"]], expected)


def test_the_block_picture_is_that_of_the_command_line(digits):
    """The densities of block_density in the limits of the picture, as bytes."""
    meta, arrays = digits.arrays("/api/blocks", by="digit", pixels=100)
    expected = block_density(digits.session.graph(), digits.session.result.labels, 100)
    low, high = density_limits(expected)
    assert meta["limits"] == [low, high]
    assert meta["names"] == expected.names
    for name in ("edges", "starts", "order"):
        assert np.array_equal(arrays[name], getattr(expected, name))
    grey, density = arrays["density"].astype(float), expected.density
    assert np.array_equal(grey == 0, density == 0)
    inside = (density > low) & (density < high)
    shown = low * (high / low) ** ((grey - 1) / 254)
    assert np.abs(np.log(shown[inside] / density[inside])).max() <= 0.51 * np.log(high / low) / 254
    assert (grey[density >= high] == 255).all()
    assert digits.get("/api/blocks", by="nowhere").status_code == 404
    found_meta, _ = digits.arrays("/api/blocks")
    assert found_meta["names"][0] == "cluster 1"


def test_rows_and_ids(tmp_path):
    """Cells as they are: numbers, text, dates, nothing; ids in ranges of bounded length."""
    labels = np.array(["<b>x</b>", "=1+1", ""] * 20)
    page = Page.open(small_map(tmp_path / "m.npz", ids=np.array([f"id{k}" for k in range(60)]), labels=labels))
    found = page.post("/api/rows", {"rows": [2, 0]}).json()
    assert found == {"columns": ["row", "id", "where"], "rows": [[2, "id2", None], [0, "id0", "<b>x</b>"]]}
    assert page.get("/api/ids", start=58).json() == {"ids": ["id58", "id59"]}
    assert page.get("/api/ids", start=1, stop=2).json() == {"ids": ["id1"]}
    assert page.get("/api/about").json()["ids"] == "text"


def test_dates_are_shown_as_dates(tmp_path):
    """Not as days since 1970."""
    days = np.array([dt.date(2024, 2, 29)] * 60, "datetime64[D]")
    page = Page.open(small_map(tmp_path / "m.npz", labels=days))
    assert page.post("/api/rows", {"rows": [0]}).json()["rows"] == [[0, 0, "2024-02-29"]]
    assert page.arrays("/api/column", name="where")[0]["kind"] == "date"


def test_thumbnails(digits):
    """The pixels of the rows that were asked for, in their order."""
    meta, arrays = digits.arrays("/api/thumbnails", rows="5,3")
    assert (meta, arrays["pixels"].shape) == ({"width": 8, "height": 8}, (2, 8, 8))
    assert np.array_equal(arrays["pixels"][1].ravel(), np.rint(digits.session.X[3] * 255 / 16))
    assert digits.get("/api/thumbnails", rows="1,x").status_code == 400
    assert digits.get("/api/thumbnails", rows=",".join(["1"] * 257)).status_code == 400


def test_search_finds_ids_first(tmp_path):
    """The very id, then the row of that number, then ids, labels; in capitals or not; no row twice."""
    ids = np.array([f"cell{k}" for k in range(60)])
    ids[7] = "3"
    labels = np.array(["Left <i>3", "right", "top"] * 20)
    page = Page.open(small_map(tmp_path / "m.npz", ids=ids, labels=labels))
    found = page.get("/api/search", q="3").json()["found"]
    rows = [each["row"] for each in found]
    assert rows[:4] == [7, 3, 13, 23]
    assert len(rows) == len(set(rows))
    assert {"row": 0, "id": "cell0", "text": "where: Left <i>3"} in found
    assert [each["row"] for each in page.get("/api/search", q="CELL11").json()["found"]] == [11]
    few = page.get("/api/search", q="RIGHT", limit=5).json()
    assert (len(few["found"]), few["more"]) == (5, True)
    assert page.get("/api/search", q="nowhere").json() == {"found": [], "more": False}


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/points?frame=1", 400),
        ("/api/points?frame=-1", 400),
        ("/api/points?frame=1e3", 400),
        ("/api/points?frame=" + "9" * 5000, 400),
        ("/api/points?frame=٣", 400),
        ("/api/column", 400),
        ("/api/column?name=" + "x" * 2000, 400),
        ("/api/ids?start=-1", 400),
        ("/api/ids?start=0&stop=10001", 400),
        ("/api/ids?start=61", 400),
        ("/api/search", 400),
        ("/api/search?q=" + "x" * 201, 400),
        ("/api/search?q=x&limit=1001", 400),
        ("/api/neighbors", 400),
        ("/api/neighbors?row=60", 400),
        ("/api/thumbnails?rows=1", 404),
        ("/api/blocks?pixels=100000", 400),
        ("/api/export?what=passwords&format=csv", 400),
        ("/api/export?what=labels&format=exe", 400),
        ("/api/export?what=rows&format=csv&cluster=9", 400),
        ("/api/../../etc/passwd", 404),
        ("/etc/passwd", 404),
        ("/api/nowhere", 404),
        ("/api/rows", 405),
    ],
)
def test_bad_requests_get_a_sentence(page, address, status):
    """And the right status; the next request is answered."""
    answer = page.get(address)
    assert answer.status_code == status
    assert answer.json()["error"].endswith(".")
    assert page.get("/api/about").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"null", b"\xff", b'{"rows": NaN}', b"[" * 200_000, b'{"rows": "0"}', b'{"rows": [60]}'),
        *(b'{"rows": [-1]}', b'{"rows": [1.5]}', b'{"rows": [true]}', b'{"rows": [' + b"0," * 1000 + b"0]}"),
        b'{"rows": [1' + b"0" * 5000 + b"]}",
    ],
    ids=lambda body: repr(body[:20]),
)
def test_malformed_bodies_are_refused(page, body):
    """Everywhere, and nothing changes."""
    for address in ("/api/rows", "/api/naming", "/api/describe", "/api/export"):
        answer = page.ask("POST", address, content=body)
        assert answer.status_code in (400, 409), (address, answer.text)
        assert answer.json()["error"].endswith(".")
    assert page.session.keeper.document.revision == 0


def test_large_bodies_are_refused(page):
    """A megabyte and a bitmap is what fits."""
    answer = page.ask("POST", "/api/naming", content=b" " * (2 << 20))
    assert answer.status_code == 413


def test_bitmaps_are_exact():
    """Neither too short nor too long, nor with bits beyond the points."""
    assert rows_of_bitmap(bitmap([0, 7, 8], 9), 9).tolist() == [0, 7, 8]
    for text in ("", "AA==", "AAAAAA==", "????", "/////w==", None, 5, bitmap([9], 10), "AAA"):
        with pytest.raises(RequestError):
            rows_of_bitmap(text, 9)


def test_an_internal_error_is_a_sentence(page, monkeypatch):
    """And the server goes on."""
    monkeypatch.setattr(type(page.session), "about", lambda self: 1 / 0)
    answer = page.get("/api/about")
    assert (answer.status_code, "Internal error" in answer.json()["error"]) == (500, True)


def test_heavy_work_does_not_hold_up_the_rest(page, monkeypatch):
    """While clusters are being found, other questions are answered; and two who ask for them wait for one computation."""
    started, calls = threading.Event(), []

    def slow(Y):
        calls.append(len(Y))
        started.set()
        assert answered.wait(30)
        return np.zeros(len(Y), np.int32)

    answered = threading.Event()
    monkeypatch.setattr(quality_routes, "find_clusters", slow)

    async def go():
        transport = httpx.ASGITransport(app=page.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            waiting = [asyncio.create_task(client.get("/api/found")) for _ in range(2)]
            assert await asyncio.to_thread(started.wait, 30)
            quick = await client.get("/api/points")
            answered.set()
            return [quick, *[await each for each in waiting]]

    quick, *found = asyncio.run(go())
    assert [each.status_code for each in (quick, *found)] == [200] * 3
    assert found[0].content == found[1].content
    assert calls == [60]


def test_a_map_in_one_dimension_lies_on_a_line(tmp_path):
    """The page gets two coordinates of each point, the second the same for all."""
    Y = np.linspace(0, 1, 50, dtype=np.float32)[:, None]
    Map(Y, np.arange(50), r=1.0).save(tmp_path / "line.npz")
    page = Page.open(tmp_path / "line.npz")
    meta, arrays = page.arrays("/api/points")
    assert (page.get("/api/about").json()["dims"], meta["dims"]) == (2, 2)
    assert arrays["xy"].shape == (50, 2)
    assert np.ptp(arrays["xy"], axis=0).tolist() == [65535, 0]
