"""The table, the figure and the page: what is best is bold, what failed is said, and nothing else is needed to look at it."""

import csv
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from sce.compare import Data, panels, write_report
from sce.compare.columns import best, groups, is_best, shown
from sce.compare.panels import MAX_PNG_BYTES, emptiest_corner, layout, panel_dot_size, write_figure
from sce.compare.store import Row, Store
from sce.compare.tables import markdown
from sce.results.maps import Map

COLUMNS = {column.name: column for group in groups() for column in group.columns}
COMMON = {"data": "d", "graph": "g", "seed": 0, "n_jobs": 2}


def row(method, status="done", reason="", facts=None, **figures):
    facts = {"seconds": 1.0, "versions": {"sce": "1"}, **(facts or {})}
    return Row(method, method.upper(), "graph", f"about {method}", status, reason, facts, figures, dict(COMMON), "x")


@pytest.fixture
def folder(tmp_path):
    """A folder with the rows of one data set, and a method that failed."""
    store = Store(tmp_path, "blobs & co")
    with store.lock():
        store.write_comparison(
            {"name": "blobs & co", "points": 60, "data": "d", "seed": 0, "n_jobs": 2, "time_limit": 9.0, "machine": "a machine",
             "graph": {"fingerprint": "g", "edges": 7, "options": {"affinity": "knn", "n_neighbors": 5}}}
        )  # fmt: skip
        Y = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
        for name, ami in (("sce", 0.9), ("tsne", 0.7)):
            store.write_row(row(name, ami=ami, ari=0.5, share=0.8, share_null=0.1))
            Map(Y=Y, ids=np.arange(60)).save(store.map_path(name))
        store.write_row(row("umap", "failed", "1 < 2 & <b>no</b>"))
        old = row("pacmap", ami=1.0)
        old.fingerprint["data"] = "other data"
        store.write_row(old)
    return tmp_path


def test_the_best_of_each_column():
    """Most of what should be much, least of what should be little; against the null where there is one; ties are all best."""
    rows = [
        row("a", ami=0.9, n_clusters=3.0),
        row("b", ami=0.9001, n_clusters=2.0),
        row("c", ami=0.2),
        row("d", "failed"),
    ]
    top = best(COLUMNS["ami"], rows)
    assert [is_best(COLUMNS["ami"], each, top) for each in rows] == [True, True, False, False]
    assert best(COLUMNS["n_clusters"], rows) is None
    assert best(COLUMNS["seconds"], [row("a", facts={"seconds": 5.0}), row("b", facts={"seconds": 2.0})]) == "2.0"
    one = row("one", share=1.0, share_null=1.0, conductance=0.0, conductance_null=0.0)
    real = row("real", share=0.9, share_null=0.2, conductance=0.1, conductance_null=0.8)
    assert best(COLUMNS["share"], [one, real]) == "0.900"
    assert best(COLUMNS["conductance"], [one, real]) == "0.100"
    assert shown(COLUMNS["share"], real) == "0.900 (0.200)"
    assert best(COLUMNS["ami"], [rows[0]]) is None
    assert shown(COLUMNS["r"], row("t", facts={"r": 12_825.0})) == "12,800"
    assert shown(COLUMNS["modularity"], row("m", modularity=-0.0001)) == "0.000"


def test_tables_have_all_rows_and_numbers(folder):
    """CSV and JSON alike; the Markdown has the best in bold; rows of other data are left out."""
    write_report(folder)
    records = json.loads((folder / "table.json").read_text())
    assert [(one["method"], one["status"]) for one in records] == [
        ("sce", "done"),
        ("tsne", "done"),
        ("umap", "failed"),
    ]
    assert records[0]["share_null"] == 0.1
    with (folder / "table.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [one["ami"] for one in read] == ["0.9", "0.7", ""]
    assert read[2]["reason"] == "1 < 2 & <b>no</b>"
    text = (folder / "table.md").read_text()
    assert "| SCE | P | **0.500** | **0.900** |" in text
    assert "- UMAP: failed" in text
    assert markdown("x", [row("a", "failed", "why")]).endswith("- A: failed, why\n")


class Page(HTMLParser):
    """The tags of a page, and whether they are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_stands_alone(folder):
    """Well formed, no scripts, nothing from elsewhere; the picture is in it, and every figure is explained."""
    data = Data("blobs & co", X=np.zeros((60, 2)), labels=np.arange(60) % 2)
    store = Store(folder, "blobs & co")
    write_figure(folder / "blobs & co.png", data, store.rows(), store)
    text = write_report(folder).read_text()
    page = Page(text)
    assert page.open == []
    tags = [tag for tag, _ in page.tags]
    assert "script" not in tags
    assert "link" not in tags
    assert not re.search(r"https?://|url\(", text)
    images = [attrs for tag, attrs in page.tags if tag == "img"]
    assert images[0]["src"].startswith("data:image/png;base64,")
    assert images[0]["alt"]
    words = " ".join(page.words)
    assert "1 < 2 & <b>no</b>" in words
    assert "knn, n_neighbors 5" in words
    for phrase in ("a machine", "2 threads", "sce 1", COLUMNS["ami"].meaning, "about tsne"):
        assert phrase in words, phrase
    assert "PACMAP" not in words
    assert "<b>0.900</b>" in text
    assert "@media print" in text
    assert 'name="viewport"' in text


def test_the_picture_is_small(tmp_path, monkeypatch):
    """A palette, and at most 300 KB, or any other limit: the picture gets coarser until it fits."""
    from PIL import Image

    rng = np.random.default_rng(0)
    store, rows = Store(tmp_path, "many"), [row(f"m{k}") for k in range(3)]
    with store.lock():
        for each in rows:
            Map(Y=rng.normal(size=(5000, 2)).astype(np.float32), ids=np.arange(5000)).save(store.map_path(each.method))
    data = Data("many", X=np.zeros((5000, 2)), labels=rng.integers(0, 10, 5000))
    path = tmp_path / "many.png"
    widths = []
    for limit in (MAX_PNG_BYTES, 30_000):
        monkeypatch.setattr(panels, "MAX_PNG_BYTES", limit)
        write_figure(path, data, [*rows, row("no", "too slow", "more than 9 s")], store)
        assert path.stat().st_size <= limit
        with Image.open(path) as image:
            assert image.mode == "P"
            widths.append(image.width)
    assert widths[0] > widths[1] > 400


def test_colours_survive_the_palette(folder):
    """The insets have the colours of the classes, black points are black, paper is white."""
    from PIL import Image

    store = Store(folder, "blobs & co")
    path = folder / "x.png"
    write_figure(path, Data("x", X=np.zeros((60, 2)), labels=np.arange(60) % 3), store.rows(), store)
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB")).reshape(-1, 3).astype(int)
    colourful = pixels[pixels.max(axis=1) - pixels.min(axis=1) > 100]
    hues = {tuple(np.round(p / 64).astype(int)) for p in colourful}
    assert len(hues) >= 3
    assert pixels.min() < 30
    assert (pixels == 255).all(axis=1).mean() > 0.5


def test_the_inset_lies_where_no_points_are():
    """In the emptiest corner; panels fill lines; dots shrink with their number."""
    Y = np.random.default_rng(0).normal(size=(500, 2))
    Y = np.vstack([Y, [[9, 9], [9, -9], [-9, 9], [-9, -9]]])
    corners = {(1, 1): [9, 9], (1, 0): [9, -9], (0, 1): [-9, 9], (0, 0): [-9, -9]}
    for corner, place in corners.items():
        assert emptiest_corner(Y[~(place == Y).all(axis=1)]) == corner
    assert all(c * lines >= n for n in range(1, 30) for c, lines in [layout(n)])
    assert panel_dot_size(100) > panel_dot_size(10_000) >= panel_dot_size(1_000_000) > 0
