"""What `explorers.py` sees of a page in Chromium: when points appear on the screen, frames while it is dragged, bytes sent.

The screen is Chromium's own recording (`Page.startScreencast`): every picture that reaches the screen, with its time. So the
same counts for canvases of any kind. Points are drawn in the first picture in which a tenth of the pixels that are not
background at the end are not background.
"""

from __future__ import annotations

import base64
import contextlib
import io
import math
import time
from typing import Any

import numpy as np
from PIL import Image

from explorer_pages import Page

FLAGS = [
    *("--no-sandbox", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-default-apps"),
]
VIEWPORT = {"width": 1100, "height": 700}
LONGEST, SILENT = 120, 6  # seconds for a page to draw, and without a change after which it has
DRAG = 5  # seconds
TENTH, DIFFERENT = 0.1, 60  # of the pixels; sum of differences of red, green and blue

# The largest canvas that is shown, as [x, y, width, height], or null.
CANVAS = """(() => {
  const found = [];
  const look = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.shadowRoot) look(each.shadowRoot);
      if (each.tagName === "CANVAS") found.push(each.getBoundingClientRect());
    }
  };
  look(document);
  const largest = found.sort((a, b) => b.width * b.height - a.width * a.height)[0];
  return largest && largest.width > 310 ? [largest.x, largest.y, largest.width, largest.height] : null;
})()"""
# Remembers the contexts of WebGL, so that a frame can wait until they have drawn.
CONTEXTS = """(() => {
  window.drawers = new Set();
  for (const kind of [HTMLCanvasElement, OffscreenCanvas]) {
    const usual = kind.prototype.getContext;
    kind.prototype.getContext = function (name, ...more) {
      const made = usual.call(this, name, ...more);
      if (made && /^webgl/.test(name)) window.drawers.add(made);
      return made;
    };
  }
})()"""
# Notes the time of each frame once everything asked of WebGL before it has been drawn.
COUNT = """() => {
  window.frames_seen = [];
  const pixel = new Uint8Array(4);
  const note = () => {
    if (!window.frames_seen) return;
    for (const gl of window.drawers) if (!gl.isContextLost()) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    window.frames_seen.push(performance.now());
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
}"""


class Screen:
    """The pictures that reach the screen of a page."""

    def __init__(self, page: Any) -> None:
        self.pictures: list[tuple[float, str]] = []
        self.session = page.context.new_cdp_session(page)
        self.session.on("Page.screencastFrame", self._take)

    def start(self) -> None:
        """Record from now on."""
        self.session.send("Page.startScreencast", {"format": "jpeg", "quality": 80, "everyNthFrame": 1})

    def stop(self) -> None:
        """Record no more."""
        self.session.send("Page.stopScreencast")

    def _take(self, event: dict[str, Any]) -> None:
        self.pictures.append((event["metadata"]["timestamp"], event["data"]))
        with contextlib.suppress(Exception):  # the page may have been closed meanwhile
            self.session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    def first_drawing(self, box: list[float]) -> float | None:
        """The time of the first picture with points in a box; None without any."""
        wide = [(moment, _cropped(picture, box)) for moment, picture in self.pictures]
        last = wide[-1][1]
        colors, counts = np.unique(last.reshape(-1, 3) // 4, axis=0, return_counts=True)
        background = colors[counts.argmax()] * 4 + 2
        final = _differs(last, background)
        if final.mean() < 0.002:
            return None
        for moment, picture in wide:
            inked = _differs(picture, background)
            if inked[final].mean() > TENTH and inked[~final].mean() < 0.5:
                return moment
        return None


def watch(browser: Any, shown: Page) -> dict[str, Any]:
    """Open a page anew and measure it; what is missing could not be measured, and `said` is what the page says instead."""
    context = browser.new_context(viewport=VIEWPORT)
    try:
        page = context.new_page()
        page.add_init_script(CONTEXTS)
        requests: list[Any] = []
        page.on("requestfinished", lambda request: requests.append(request))  # noqa: PLW0108 - Playwright marks functions
        screen = Screen(page)
        screen.start()
        page.goto(shown.address, wait_until="commit", timeout=LONGEST * 1000)
        settled = _settle(page, screen, shown)
        screen.stop()
        begun = page.evaluate("performance.timeOrigin") / 1000
        sent = shown.file.stat().st_size if shown.file else sum(map(_size, requests))
        found: dict[str, Any] = {"bytes": int(sent), "complete": settled - begun}
        box = page.evaluate(CANVAS)
        drawn = screen.first_drawing(box) if box else None
        if drawn is None:
            return found | {"said": _said(page)}
        return found | {"first": drawn - begun} | _drag(page, screen, box)
    finally:
        context.close()


def _settle(page: Any, screen: Screen, shown: Page) -> float:
    """Wait until a page says that it is ready, or else until it has a canvas and does not change any more."""
    end = time.time() + LONGEST
    ready = None
    while time.time() < end:
        page.wait_for_timeout(100)
        if shown.ready and ready is None and page.query_selector(shown.ready):
            ready = time.time()
        last = screen.pictures[-1][0] if screen.pictures else math.inf
        if ready and time.time() - ready > 2:
            return ready
        if not shown.ready and time.time() - last > SILENT:
            return last
    return time.time()


def _size(request: Any) -> float:
    try:
        return max(request.sizes()["responseBodySize"], 0)
    except Exception:  # noqa: BLE001 - a request from a worker that has ended, or from the page before
        return 0


def _said(page: Any) -> str:
    text = " ".join(page.inner_text("body").split())
    found = text.find("WebGPU")
    return text[max(found, 0) :][:90]


def _drag(page: Any, screen: Screen, box: list[float]) -> dict[str, Any]:
    """Drag the map in circles; the times between frames in milliseconds, and how many pictures a second reached the screen."""
    x, y, width, height = box
    middle = [x + width / 2, y + height / 2]
    page.mouse.move(*middle)
    page.mouse.down()
    page.evaluate(COUNT)
    _circle(page, middle, min(width, height) / 5)
    times = np.diff(page.evaluate("() => { const seen = window.frames_seen; window.frames_seen = null; return seen; }"))
    before = len(screen.pictures)
    screen.start()
    start = time.time()
    _circle(page, middle, min(width, height) / 5)
    pictures = screen.pictures[before:]
    screen.stop()
    page.mouse.up()
    rate = len({picture for _, picture in pictures}) / (time.time() - start)
    return {"median": float(np.median(times)), "half": _half(times), "worst": float(times.max()), "rate": rate}


def _half(times: np.ndarray) -> float:
    """The time of the frame that is on the screen at a usual moment: frames without news, which are short, count little."""
    ordered = np.sort(times)
    return float(ordered[np.searchsorted(np.cumsum(ordered), ordered.sum() / 2)])


def _circle(page: Any, middle: list[float], radius: float) -> None:
    end, k = time.time() + DRAG, 0
    while time.time() < end:
        angle = k / 10
        page.mouse.move(middle[0] + radius * math.sin(angle), middle[1] + radius * (1 - math.cos(angle)))
        k += 1


def _cropped(picture: str, box: list[float]) -> np.ndarray:
    x, y, width, height = map(int, box)
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    return np.asarray(image.crop((x, y, x + width, y + height))).astype(int)


def _differs(picture: np.ndarray, background: np.ndarray) -> np.ndarray:
    return np.abs(picture - background).sum(axis=2) > DIFFERENT
