"""A map as a page in one file: complete, small, and safe, without a server and without a network."""

import csv
import io

import numpy as np
import pytest

import sce
from browsers import (
    PER_BLOB,
    chromium,
    inked,
    lasso,
    opened,
    pixels,
    places,
    playwright,
    still,
    three_blobs,
    until_said,
)
from sce.cli.main import main
from sce.explore.one_file import read_sources, write_html
from sce.explore.opening import open_session
from sce.web.join import join_modules


@pytest.fixture(scope="module")
def browser():
    """A browser that all tests share."""
    with playwright() as driver, chromium(driver) as one:
        yield one


@pytest.fixture
def page_file(tmp_path):
    """The page of three blobs, with their columns."""
    path = three_blobs(tmp_path)
    assert main(["plot", str(path), "-o", str(tmp_path / "map.html"), "--columns", "0:2", "--quiet"]) == 0
    return tmp_path / "map.html"


def test_all_modules_of_the_page_join():
    """The joiner takes every module of the page, and all of them are used."""
    sources = {name: text for name, text in read_sources().items() if name.endswith(".js")}
    joined = join_modules(sources, "main.js")
    assert [name for name in sources if f"${name.removesuffix('.js')} = " not in joined] == []


def test_the_page_works_from_disk_without_a_network(browser, page_file):
    """It shows the points, says what a row is, selects, and saves the rows; nothing is asked of any server."""
    asked, heard = [], []
    page = opened(browser, "about:blank", ready=False, accept_downloads=True, offline=True, complaints=heard)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(page_file.as_uri())
    page.wait_for_selector("body[data-ready]")
    still(page)
    assert inked(pixels(page)) > 3000
    Y = sce.load(page_file.with_name("map.npz")).Y
    at = places(page, Y)
    page.mouse.move(*at[7].tolist())
    page.wait_for_selector("#card:not([hidden])")
    assert "row" in page.inner_text("#card")
    box = page.locator("#map").bounding_box()
    blob = at[2 * PER_BLOB :]
    low, high = blob.min(axis=0) - 9, blob.max(axis=0) + 9
    corners = (np.array([low, [high[0], low[1]], high, [low[0], high[1]]]) - [box["x"], box["y"]]) / [
        box["width"],
        box["height"],
    ]
    page.get_by_role("button", name="Lasso", exact=True).click()
    lasso(page, corners)
    until_said(page, "200 points selected.")
    page.evaluate("document.getElementById('rows-csv').closest('details').open = true")
    with page.expect_download() as download:
        page.click("#rows-csv")
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert [row["id"] for row in rows] == [f"row {k}" for k in range(400, 600)]
    assert {row["place"] for row in rows} == {"'=west()"}
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    assert heard == []


def test_names_of_classes_cannot_end_the_script(browser, tmp_path):
    """Labels and ids that hold HTML are shown as text."""
    hostile = np.array(["</script><script>window.hacked=1</script>", "<!--", "<img src=x onerror=window.hacked=1>"])
    path = three_blobs(tmp_path, labels=np.repeat(hostile, PER_BLOB))
    assert main(["plot", str(path), "-o", str(tmp_path / "map.html"), "--quiet"]) == 0
    page = opened(browser, (tmp_path / "map.html").as_uri())
    still(page)
    assert page.evaluate("window.hacked") is None
    assert page.get_by_role("button", name=str(hostile[0])).count() == 1


def test_a_hundred_thousand_points_take_less_than_five_megabytes(tmp_path):
    """With ids and labels."""
    rng = np.random.default_rng(0)
    labels = rng.choice([f"class {k}" for k in range(40)], 100_000)
    ids = np.array([f"cell-{k:06d}" for k in rng.permutation(100_000)])
    made = sce.Map(rng.normal(size=(100_000, 2)).astype(np.float32), ids, labels=labels, label_name="class", r=1.0)
    made.save(tmp_path / "map.npz")
    page = write_html(open_session(tmp_path / "map.npz"), tmp_path / "map.html")
    assert page.stat().st_size < 5e6


def test_thumbnails_and_named_clusters_are_in_the_page(browser, tmp_path):
    """Images of the rows are shown where the user asked for them, and clusters that have been named are a column."""
    rng = np.random.default_rng(0)
    path = three_blobs(tmp_path, X=rng.integers(0, 256, (3 * PER_BLOB, 64)).astype(np.uint8))
    session = open_session(path)
    session.keeper.submit(0, {"kind": "create", "name": "mine", "rows": np.arange(50), "made": None})
    session.keeper.close()
    assert main(["plot", str(path), "-o", str(tmp_path / "map.html"), "--images", "8x8", "--quiet"]) == 0
    page = opened(browser, (tmp_path / "map.html").as_uri())
    still(page)
    page.mouse.move(*places(page, sce.load(path).Y)[3].tolist())
    page.wait_for_selector("#card canvas")
    page.select_option("#colour-by", "named clusters")
    page.wait_for_selector("input[aria-label='Show mine']")


def test_options_of_pages_are_refused_for_pictures(tmp_path, capsys):
    """--columns without .html is a usage error that says so."""
    path = three_blobs(tmp_path)
    assert main(["plot", str(path), "-o", str(tmp_path / "map.png"), "--columns", "0"]) == 2
    assert "--columns is for pages" in capsys.readouterr().err


@pytest.mark.parametrize("kept", ["X", "P"])
def test_neighbours_are_in_the_page_on_request(browser, tmp_path, kept):
    """A click joins a point to its nearest rows in the data, or in the graph."""
    path = three_blobs(tmp_path, **{"P" if kept == "X" else "X": None})
    assert main(["plot", str(path), "-o", str(tmp_path / "map.html"), "--neighbors", "--quiet"]) == 0
    page = opened(browser, (tmp_path / "map.html").as_uri())
    still(page)
    page.mouse.click(*places(page, sce.load(path).Y)[5].tolist())
    page.wait_for_timeout(300)
    red = (
        "(() => { const c = document.querySelector('canvas.overlay'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < d.length; i += 4)"
        " if (d[i] > 250 && d[i + 1] > 250 && d[i + 3] > 200) n++; return n; })()"
    )
    assert page.evaluate(red) > 30  # the white centres of the circles around the neighbours


def test_neighbours_need_data_or_a_graph(tmp_path, capsys):
    """A sentence says which option names them."""
    path = three_blobs(tmp_path, X=None, P=None)
    assert main(["plot", str(path), "-o", str(tmp_path / "map.html"), "--neighbors"]) == 3
    assert "--data" in capsys.readouterr().err
