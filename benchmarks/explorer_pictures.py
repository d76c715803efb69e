"""The pictures of docs/explore.md: the explorer in headless Chromium, on MNIST, SHUTTLE and a sweep of the digits.

Usage: SCE_DATA=folder python benchmarks/explorer_pictures.py [mnist shuttle sweep dark phone] [-o docs/images]
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from common import require_data

FLAGS = ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update"]
OF_THREES = [(540, 270), (640, 240), (660, 320), (640, 350), (560, 360), (520, 330)]  # around a digit of MNIST

TORN = "3383"  # a row between a 3 and a 2: the map tears its neighbours apart


@contextmanager
def explored(folder: Path, *arguments: str) -> Iterator[str]:
    """The address of a running `sce explore`."""
    command = [sys.executable, "-m", "sce", "explore", *arguments, "--no-browser"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        yield next(found.group() for line in process.stdout if (found := re.search(r"http://\S+token=\S+", line)))
    finally:
        process.terminate()
        process.wait()


def open_page(browser: Any, address: str, wide: int = 1280, high: int = 800, **options: Any) -> Page:
    """A page that has drawn everything."""
    page: Page = browser.new_context(viewport={"width": wide, "height": high}, **options).new_page()
    page.goto(address)
    page.wait_for_selector("body[data-ready]", timeout=120_000)
    page.wait_for_timeout(1500)
    return page


def close_panels(page: Page, *titles: str) -> None:
    """Close panels of the page by their titles."""
    for title in titles:
        page.locator("aside summary", has_text=re.compile(f"^{title}$")).click()


def mnist(browser: Any, folder: Path) -> bytes:
    """A digit that is lassoed: its thumbnails, the card of a point, and its neighbours in the data."""
    with explored(folder, "mnist") as address:
        page = open_page(browser, address)
        page.click("button[data-tool=lasso]")
        page.mouse.move(*OF_THREES[0])
        page.mouse.down()
        for place in OF_THREES[1:]:
            page.mouse.move(*place, steps=4)
        page.mouse.up()
        page.wait_for_selector("aside .thumb")
        close_panels(page, "Colour", "Clusters")
        page.click("button[data-tool=move]")
        page.fill("#find input", TORN)
        page.wait_for_selector("#found li")
        page.keyboard.press("Enter")
        page.wait_for_timeout(4000)
        page.get_by_role("button", name="All", exact=True).click()
        page.mouse.move(1100, 780)
        page.wait_for_timeout(2000)
        return page.screenshot()


def shuttle(browser: Any, folder: Path) -> bytes:
    """The clusters that are seen, named, beside the graph in blocks."""
    with explored(folder, "shuttle") as address:
        page = open_page(browser, address, 1280, 1120)
        page.click("#from-found")
        page.wait_for_selector("ul[aria-label='Clusters you named'] li", timeout=60_000)
        close_panels(page, "Colour")
        page.click("#show-blocks")
        page.wait_for_selector("canvas.blocks", timeout=120_000)
        page.evaluate("document.querySelector('ul.list').style.maxHeight = '200px'")
        page.locator("button[aria-label^='What is']").first.click()
        page.wait_for_selector("text=of all.", timeout=120_000)
        page.wait_for_timeout(3000)
        page.evaluate("document.querySelector('aside').scrollTop = 0")
        return page.screenshot(full_page=False)


def sweep(browser: Any, folder: Path) -> bytes:
    """Three places of the slider, side by side."""
    subprocess.run(
        [sys.executable, "-m", "sce", "sweep", "digits", "-o", "digits.npz", "--log10-r", "0:4:0.5"],
        cwd=folder,
        check=True,
    )
    with explored(folder, "digits.npz") as address:
        page = open_page(browser, address, 900, 640)
        shown = []
        for place in (0, 3, 8):
            page.evaluate(f"""(() => {{ const s = document.getElementById('slide-input'); s.value = {place};
                for (const e of ['input', 'change']) s.dispatchEvent(new Event(e)); }})()""")
            page.wait_for_timeout(1500)
            shown.append(Image.open(io.BytesIO(page.locator("main").screenshot())))
    wide, high = shown[0].size
    row = Image.new("RGB", (wide * 3 + 20, high), "white")
    for k, picture in enumerate(shown):
        row.paste(picture, (k * (wide + 10), 0))
    content = io.BytesIO()
    row.save(content, "png")
    return content.getvalue()


def dark(browser: Any, folder: Path) -> bytes:
    """The density of MNIST in the dark."""
    with explored(folder, "mnist") as address:
        page = open_page(browser, address, 1000, 640)
        page.evaluate("location.hash = 'colour=digits&theme=dark&density=yes'")
        page.reload()
        page.wait_for_selector("body[data-ready]")
        page.wait_for_timeout(1500)
        return page.screenshot()


def phone(browser: Any, folder: Path) -> bytes:
    """SHUTTLE's classes on a phone."""
    with explored(folder, "shuttle") as address:
        return open_page(browser, address, 390, 760, has_touch=True, is_mobile=True).screenshot()


PICTURES = {each.__name__: each for each in (mnist, shuttle, sweep, dark, phone)}


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(PICTURES), metavar="picture")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images"))
    options = parser.parse_args()
    require_data()
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in options.names:
            picture = Image.open(io.BytesIO(PICTURES[name](browser, Path(folder)))).convert("RGB")
            target = options.output / f"explore_{name}.png"
            picture.save(target, optimize=True)
            print(target, flush=True)
        browser.close()


if __name__ == "__main__":
    main()
