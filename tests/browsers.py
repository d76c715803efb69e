"""A real browser and a real server of `sce explore`, for tests that do what a person does."""

import json
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from sce import Map

# Chromium without a sandbox, because tests run as root in containers; with WebGL in software; without looking for the network.
FLAGS = [
    *("--no-sandbox", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-default-apps"),
]
CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
PER_BLOB = 200


@contextmanager
def playwright():
    """What starts browsers; skips where it, or Chromium, is missing. There can be only one at a time."""
    module = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if chromium_path() is None:
        pytest.skip("there is no Chromium; `make test` installs it with apt where it is root")
    with module.sync_playwright() as one:
        yield one


def chromium_path():
    """Chromium as it is installed here, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def chromium(driver, *flags):
    """A headless Chromium."""
    browser = driver.chromium.launch(executable_path=chromium_path(), args=[*FLAGS, *flags])
    try:
        yield browser
    finally:
        browser.close()


def three_blobs(folder, **change):
    """A map of three blobs, 200 points each, with its data and its graph: saved as map.npz."""
    rng = np.random.default_rng(0)
    blob = np.repeat(np.arange(3), PER_BLOB)
    Y = (CENTRES[blob] + rng.normal(size=(3 * PER_BLOB, 2)) / 2).astype(np.float32)
    X = np.column_stack([Y + rng.normal(size=Y.shape) / 10, rng.normal(size=3 * PER_BLOB)]).astype(np.float32)
    near = np.argsort(((Y[:, None] - Y[None]) ** 2).sum(axis=2), axis=1)[:, 1:11]
    rows = np.repeat(np.arange(len(Y)), 10)
    P = sp.csr_matrix((np.ones(rows.size), (rows, near.ravel())), shape=(len(Y), len(Y)))
    P = (P + P.T) / (2 * P.sum())
    names = np.array(["north", "<b>east</b>", "=west()"])
    parts = {"labels": names[blob], "label_name": "place", "X": X, "P": P.tocsr(), "r": 10.0, **change}
    path = Path(folder) / "map.npz"
    Map(Y, np.array([f"row {k}" for k in range(len(Y))]), **parts).save(path)
    return path


class Served:
    """A running `sce explore`."""

    def __init__(self, *arguments, cwd=None):
        command = [sys.executable, "-m", "sce", "explore", *map(str, arguments), "--no-browser"]
        self.process = subprocess.Popen(
            command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
        )
        self.said = []
        for line in self.process.stdout:
            self.said.append(line)
            found = re.search(r"(http://[^/\s]+)(/\?token=\S+)", line)
            if found:
                self.origin, self.address = found.group(1), found.group(1) + found.group(2)
                return
        raise AssertionError("".join(self.said))

    def stop(self, *, kill=False):
        """End the server; returns its exit code."""
        self.process.kill() if kill else self.process.terminate()
        code = self.process.wait(timeout=20)
        self.process.stdout.close()
        return code


@contextmanager
def served(*arguments, **options):
    """A running `sce explore` that ends with the block."""
    server = Served(*arguments, **options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


def opened(browser, address, *, complaints=None, ready=True, **context):
    """A page at an address, ready; what the console says of errors goes to `complaints`."""
    page = browser.new_context(**{"viewport": {"width": 1100, "height": 700}, **context}).new_page()
    page.set_default_timeout(15_000)
    heard = [] if complaints is None else complaints
    page.on("console", lambda message: heard.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(address)
    if ready:
        page.wait_for_selector("body[data-ready]")
    return page


def until(page, condition, seconds=15):
    """Wait for a condition in JavaScript; Playwright's own wait_for_function evaluates text, which our policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, (
            f"not so after {seconds} seconds: {condition}; status: {page.inner_text('#status')}"
        )
        page.wait_for_timeout(30)


def until_said(page, text):
    """Wait until the status line says something."""
    until(page, f"document.getElementById('status').textContent.includes({json.dumps(text)})")


def still(page):
    """Wait until the page has drawn all points, and is at rest."""
    until(page, "document.getElementById('map').dataset.still === 'true'")
    page.wait_for_timeout(250)


def pixels(page):
    """What is on the map, as an array of red, green and blue: of the canvas that is shown."""
    import base64
    import io

    from PIL import Image

    address = page.evaluate(
        "[...document.querySelectorAll('canvas.points')].find((c) => !c.hidden).toDataURL('image/png')"
    )
    image = Image.open(io.BytesIO(base64.b64decode(address.split(",")[1])))
    return np.asarray(image.convert("RGB")).astype(int)


def inked(image):
    """How many pixels differ from the background, white."""
    return int((image.min(axis=2) < 200).sum())


def lasso(page, corners):
    """Draw a lasso through corners given as shares of the map."""
    box = page.locator("#map").bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in [*corners, corners[0]]]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=3)
    page.mouse.up()


def places(page, Y, of=None):
    """Where points of a map in two dimensions are on the screen, in CSS pixels, by the view in the address of the page.

    `of` are other places on the map than its points, which Y are.
    """
    until(page, "location.hash.includes('view=')")
    page.wait_for_timeout(400)
    x, y, scale = (float(word) for word in re.search(r"view=([^&]+)", page.url).group(1).replace("%2C", ",").split(","))
    box = page.locator("#map").bounding_box()
    low = Y.min(axis=0)
    q = ((Y if of is None else of) - low) / ((Y.max(axis=0) - low).max() / 65535)
    by = scale * min(box["width"], box["height"])
    across = box["x"] + box["width"] / 2 + (q[:, 0] - x) * by
    return np.column_stack([across, box["y"] + box["height"] / 2 - (q[:, 1] - y) * by])
