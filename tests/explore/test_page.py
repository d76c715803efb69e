"""The page of `sce explore` in a real browser: what a person does with it, and what the person sees."""

import csv
import io
import json
import urllib.parse

import numpy as np
import pytest

import sce
from browsers import (
    CENTRES,
    PER_BLOB,
    chromium,
    inked,
    lasso,
    opened,
    pixels,
    places,
    playwright,
    served,
    still,
    three_blobs,
    until,
    until_said,
)
from explorers import many_points

AROUND = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 2.1  # a blob has a standard deviation of 0.5


@pytest.fixture(scope="module")
def driver():
    """What starts browsers."""
    with playwright() as one:
        yield one


@pytest.fixture(scope="module")
def browser(driver):
    """One browser for all tests."""
    with chromium(driver) as one:
        yield one


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of three blobs that several tests look at, and none changes."""
    with served(three_blobs(tmp_path_factory.mktemp("looked"))) as one:
        yield one


@pytest.fixture
def own(tmp_path):
    """A server of three blobs for one test alone."""
    path = three_blobs(tmp_path)
    with served(path) as one:
        one.path = path
        yield one


def corners_of(page, blob, path):
    """The corners of a lasso around a blob, as shares of the map."""
    Y = sce.load(path).Y
    box = page.locator("#map").bounding_box()
    at = places(page, Y, CENTRES[blob] + AROUND)
    return (at - [box["x"], box["y"]]) / [box["width"], box["height"]]


@pytest.fixture(scope="module")
def blobs(server, tmp_path_factory):
    """The same map, to know where its points are."""
    return three_blobs(tmp_path_factory.mktemp("known"))


def select_blob(page, blob, path):
    """Lasso a blob, as a person does."""
    page.get_by_role("button", name="Lasso", exact=True).click()
    lasso(page, corners_of(page, blob, path))
    until_said(page, "selected")
    return page.inner_text("#status")


def test_the_map_is_drawn_and_the_token_leaves_the_address(browser, server):
    """A page shows points in the colours of the classes, says nothing on the console, and keeps no token in its address."""
    heard = []
    page = opened(browser, server.address, complaints=heard)
    still(page)
    image = pixels(page)
    colours = {tuple(colour) for colour in image.reshape(-1, 3)[(image.min(axis=2) < 200).ravel()]}
    assert inked(image) > 3000
    assert len(colours) >= 3
    assert "token" not in page.url
    assert heard == []


def test_wheel_and_button_zoom(browser, server):
    """The wheel magnifies, and "All" shows everything again."""
    page = opened(browser, server.address)
    still(page)
    before = pixels(page)
    box = page.locator("#map").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -600)
    still(page)
    assert np.abs(pixels(page) - before).sum() > 0
    page.get_by_role("button", name="All", exact=True).click()
    page.wait_for_timeout(700)
    still(page)
    assert np.abs(pixels(page) - before).sum() == 0


def test_a_point_tells_its_row_as_text(browser, server, blobs):
    """Under the pointer are id, class and columns of the row; a class called <b>east</b> is text, not HTML."""
    page = opened(browser, server.address)
    still(page)
    Y = sce.load(blobs).Y
    row = PER_BLOB + int(np.argmax(Y[PER_BLOB : 2 * PER_BLOB, 0]))
    page.mouse.move(*places(page, Y)[row].tolist())
    page.wait_for_selector(f"#card[data-row='{row}']:not([hidden])")
    said = page.inner_text("#card")
    assert f"row {row}" in said
    assert "<b>east</b>" in said
    assert page.locator("#card b").count() == 0


def test_a_click_draws_lines_to_the_neighbours_in_the_data(browser, server, blobs):
    """The nearest rows in the data are joined to the point that was clicked."""
    page = opened(browser, server.address)
    still(page)
    page.mouse.click(*places(page, sce.load(blobs).Y)[5].tolist())
    until(page, "location.hash.includes('row=')")
    page.wait_for_timeout(300)
    drawn = page.evaluate(
        "(() => { const c = document.querySelector('canvas.overlay'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < d.length; i += 4)"
        " if (d[i] > 150 && d[i + 1] < 60 && d[i + 3] > 100) n++; return n; })()"
    )
    assert drawn > 10


def test_a_row_is_found_by_its_id(browser, server):
    """Search finds a row by its id, flies there, and shows it."""
    page = opened(browser, server.address)
    page.fill("#find input", "row 437")
    page.wait_for_selector("#found li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#card[data-row='437']:not([hidden])")


def test_lasso_name_export_undo_reload(browser, own):
    """A blob that is lassoed and named is on the disk, in the export, gone after undo, back after redo and after a reload."""
    page = opened(browser, own.address, accept_downloads=True)
    still(page)
    assert select_blob(page, 2, own.path) == f"{PER_BLOB} points selected."
    page.fill("#new-name", "the = blob")
    page.get_by_role("button", name="Name it").click()
    until_said(page, "Saved.")
    clusters = page.locator("ul[aria-label='Clusters you named'] li")
    assert clusters.count() == 1
    journal = own.path.with_name("map.clusters.jsonl")
    saved = json.loads(journal.read_text().splitlines()[-1])
    assert saved["op"]["made"]["tool"] == "lasso" if "op" in saved else "lasso" in journal.read_text()
    page.evaluate("document.getElementById('labels-csv').closest('details').open = true")
    with page.expect_download() as download:
        page.click("#labels-csv")
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    column = next(name for name in rows[0] if any(row[name] == "the = blob" for row in rows))
    assert [row["id"] for row in rows if row[column] == "the = blob"] == [f"row {k}" for k in range(400, 600)]
    page.click("#undo")
    until(page, "document.querySelectorAll('ul[aria-label=\"Clusters you named\"] li').length === 0")
    page.click("#redo")
    until(page, "document.querySelectorAll('ul[aria-label=\"Clusters you named\"] li').length === 1")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("ul[aria-label='Clusters you named'] li").inner_text().startswith("the = blob")


def test_classes_are_switched_off_and_selected(browser, server):
    """A click in the legend hides a class, or selects it."""
    page = opened(browser, server.address)
    still(page)
    before = inked(pixels(page))
    page.uncheck("input[aria-label='Show north']")
    still(page)
    assert inked(pixels(page)) < 0.8 * before
    page.get_by_role("button", name="=west()").click()
    until_said(page, "200 points")
    page.wait_for_selector("div[aria-label='Selected rows'] tbody tr")


def test_a_change_in_another_window_is_told(browser, own):
    """Two windows on one map: the one that is behind is told, and nothing is overwritten."""
    first, second = opened(browser, own.address), opened(browser, own.address)
    for page, blob in ((first, 0), (second, 1)):
        still(page)
        select_blob(page, blob, own.path)
        page.fill("#new-name", f"blob {blob}")
        page.get_by_role("button", name="Name it").click()
        until(
            page,
            "document.getElementById('status').textContent === 'Saved.' || !document.getElementById('trouble').hidden",
        )
    assert "another window" in second.inner_text("#trouble")
    assert second.locator("ul[aria-label='Clusters you named'] li").count() == 1


def test_the_keyboard_alone_selects(browser, own):
    """Tab reaches the map; C, arrows, space and Enter draw around points; the name is typed."""
    page = opened(browser, own.address)
    still(page)
    page.locator("#map").focus()
    page.keyboard.press("c")
    box = page.locator("#map").bounding_box()
    wide, high = int(box["width"] / 60), int(box["height"] / 60)

    def press(key, times):
        for _ in range(times):
            page.keyboard.press(f"Shift+{key}")

    press("ArrowLeft", wide + 1)
    press("ArrowUp", high + 1)
    page.keyboard.press("Space")
    press("ArrowRight", 2 * wide + 2)
    page.keyboard.press("Space")
    press("ArrowDown", 2 * high + 2)
    page.keyboard.press("Space")
    press("ArrowLeft", 2 * wide + 2)
    page.keyboard.press("Enter")
    until_said(page, "600 points selected.")


def test_touch_selects(browser, own):
    """A finger draws a lasso."""
    page = opened(browser, own.address, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 780})
    still(page)
    page.get_by_role("button", name="Lasso", exact=True).tap()
    box = page.locator("#map").bounding_box()
    session = page.context.new_cdp_session(page)
    corners = corners_of(page, 1, own.path)
    at = [{"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]} for x, y in [*corners, corners[0]]]
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at[0]]})
    for place in at[1:]:
        session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [place]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    until_said(page, "200 points selected.")


def test_webgl_is_lost_and_restored(browser, server):
    """Drawn by WebGL; when the context is lost the processor draws, and a sentence says so; then WebGL again."""
    page = opened(browser, server.address)
    page.goto(f"{server.origin}/#draw=webgl")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    still(page)
    shown = "[...document.querySelectorAll('canvas.points')].find((c) => !c.hidden).className"
    assert "points-gl" in page.evaluate(shown)
    assert inked(pixels(page)) > 3000
    page.evaluate(
        "window.lost = document.querySelector('canvas.points-gl').getContext('webgl2').getExtension('WEBGL_lose_context');"
        "window.lost.loseContext()"
    )
    until(page, f"{shown}.includes('points-2d')")
    still(page)
    assert inked(pixels(page)) > 3000
    assert "graphics card stopped" in page.inner_text("#notice")
    page.evaluate("window.lost.restoreContext()")
    until(page, f"{shown}.includes('points-gl')")
    still(page)
    assert inked(pixels(page)) > 3000


def test_without_webgl_the_page_says_so(driver, server):
    """A browser without WebGL draws all the same."""
    with chromium(driver, "--disable-3d-apis") as other:
        page = opened(other, server.address)
        still(page)
        assert inked(pixels(page)) > 3000
        assert "no WebGL 2" in page.inner_text("#notice")


def test_the_slider_morphs(browser, tmp_path):
    """Dragging the slider of a sweep moves the points, and tells r."""
    X = np.random.default_rng(0).normal(size=(200, 4)) + 8 * np.repeat(np.eye(4), 50, axis=0)
    path = tmp_path / "sweep.npz"
    sce.sweep(X, [0, 1, 2], labels=np.repeat(np.arange(4), 50), random_state=0).save(path)
    with served(path) as server:
        page = opened(browser, server.address)
        still(page)
        before = pixels(page)
        page.evaluate("(() => { const s = document.getElementById('slide-input'); s.value = 1.5;"
                      " s.dispatchEvent(new Event('input')); })()")  # fmt: skip
        until(page, "document.querySelector('#slide output').textContent.includes('r = ')")
        still(page)
        assert np.abs(pixels(page) - before).sum() > 0
        page.evaluate("document.getElementById('slide-input').dispatchEvent(new Event('change'))")
        until(page, "location.hash.includes('frame=2')")


def test_the_state_is_in_the_address(browser, server):
    """Another window with the same address, without the token, shows the same."""
    page = opened(browser, server.address)
    page.evaluate("document.getElementById('theme').closest('details').open = true")
    page.select_option("#theme", "dark")
    until(page, "location.hash.includes('theme=dark')")
    address = page.url
    assert "token" not in urllib.parse.unquote(address)
    other = page.context.new_page()
    other.goto(address)
    other.wait_for_selector("body[data-ready][data-theme='dark']")


def test_pictures_are_saved(browser, server):
    """PNG with twice the pixels of the page, and SVG with a circle for each point."""
    from PIL import Image

    page = opened(browser, server.address, accept_downloads=True)
    still(page)
    page.evaluate("document.getElementById('png').closest('details').open = true")
    with page.expect_download() as download:
        page.click("#png")
    box = page.locator("#map").bounding_box()
    with Image.open(download.value.path()) as image:
        assert image.size == (round(2 * box["width"]), round(2 * box["height"]))
        assert inked(np.asarray(image.convert("RGB")).astype(int)) > 6000
    with page.expect_download() as download:
        page.click("#svg")
    assert download.value.path().read_text().count("<circle") == 3 * PER_BLOB


def test_nothing_bars_anybody(browser, own):
    """axe finds nothing to complain of: with a selection, a card, all panels open, and in the dark."""
    from axe_playwright_python.sync_playwright import Axe

    page = opened(browser, own.address)
    still(page)
    select_blob(page, 0, own.path)
    page.fill("#new-name", "mine")
    page.get_by_role("button", name="Name it").click()
    until_said(page, "Saved.")
    page.get_by_role("button", name="mine", exact=True).first.click()
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    page.wait_for_selector("div[aria-label='Selected rows'] tbody tr")
    for theme in ("light", "dark"):
        page.select_option("#theme", theme)
        page.wait_for_timeout(300)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_a_map_in_three_dimensions_turns(browser, tmp_path):
    """Dragging turns it, and the points stay on the page."""
    rng = np.random.default_rng(0)
    Y = (np.repeat(5 * np.eye(3), 100, axis=0) + rng.normal(size=(300, 3))).astype(np.float32)
    sce.Map(Y, np.arange(300), labels=np.repeat(np.arange(3), 100), r=1.0).save(tmp_path / "solid.npz")
    with served(tmp_path / "solid.npz") as server:
        page = opened(browser, server.address)
        still(page)
        before = pixels(page)
        box = page.locator("#map").bounding_box()
        page.mouse.move(box["x"] + 200, box["y"] + 200)
        page.mouse.down()
        page.mouse.move(box["x"] + 400, box["y"] + 260, steps=5)
        page.mouse.up()
        still(page)
        after = pixels(page)
        assert np.abs(after - before).sum() > 0
        assert inked(after) > 0.6 * inked(before)


def test_density_fills_where_points_are(browser, server):
    """The density view has more shades than the colours of dots."""
    page = opened(browser, server.address)
    page.evaluate("document.getElementById('density').closest('details').open = true")
    page.check("#density")
    still(page)
    assert len(np.unique(pixels(page).reshape(-1, 3), axis=0)) > 50


def test_a_filter_leaves_points_out(browser, server):
    """A column of numbers is cut, and fewer points are drawn."""
    page = opened(browser, server.address)
    still(page)
    page.evaluate("document.getElementById('filter-by').closest('details').open = true")
    page.select_option("#filter-by", "0")
    page.wait_for_selector("fieldset input[type=range]")
    page.evaluate(
        "(() => { const s = document.querySelector('fieldset input[type=range]');"
        " s.value = (Number(s.min) + Number(s.max)) / 2; s.dispatchEvent(new Event('input')); })()"
    )
    page.wait_for_selector("text=of 600 points are drawn")


def test_long_work_is_told_and_can_be_cancelled(browser, tmp_path):
    """Of many points: what is being worked out is said beside a button that ends it; asked again, it is done."""
    with served(many_points(tmp_path)) as server:
        page = opened(browser, server.address)
        page.select_option("#colour-by", "neighbors_kept")
        cancel = page.locator("#work button")
        cancel.wait_for()
        assert page.inner_text("#work").startswith("Looking for clusters …")
        cancel.click()
        until(page, "!document.getElementById('trouble').hidden")
        assert page.inner_text("#trouble") == "The computation was cancelled."
        assert page.locator("#work p").count() == 0
        assert page.input_value("#colour-by") == "blob"
        page.select_option("#colour-by", "found clusters")
        until(page, "document.querySelectorAll('ul[aria-label=\"Classes of found clusters\"] li').length > 1", 60)
        assert page.locator("#trouble").is_hidden()
        assert page.locator("#work p").count() == 0


def test_a_part_of_a_cluster_knows_its_parent(browser, own):
    """Selected from a cluster, cut by a lasso, and named: the file says which cluster, which tool, and how both were joined."""
    page = opened(browser, own.address)
    still(page)
    select_blob(page, 0, own.path)
    page.fill("#new-name", "whole")
    page.get_by_role("button", name="Name it").click()
    until_said(page, "Saved.")
    page.locator("ul[aria-label='Clusters you named']").get_by_role("button", name="whole", exact=True).click()
    until_said(page, "200 points selected.")
    page.select_option("select[aria-label='How a selection joins the one before']", "intersect")
    corners = corners_of(page, 0, own.path)
    lasso(page, [corners[0], corners[1], corners.mean(axis=0)])
    page.wait_for_timeout(300)
    page.fill("#new-name", "part")
    page.get_by_role("button", name="Name it").click()
    until(page, "document.querySelectorAll('ul[aria-label=\"Clusters you named\"] li').length === 2")
    made = json.loads(own.path.with_name("map.clusters.jsonl").read_text().splitlines()[-1])["op"]["made"]
    assert (made["tool"], made["parent"], made["how"]) == ("lasso", 0, "intersect")
    assert made["query"] == "replace: rows; intersect: lasso"
    assert len(made["shape"]) >= 3
