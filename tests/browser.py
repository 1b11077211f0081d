"""A real Chromium for tests: nothing but loopback can be reached, and whatever goes wrong on a page fails the test."""

import re
import shutil
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
WHY = "needs a browser that nungil does not: apt-get install chromium"
NEEDS_BROWSER = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason=WHY)]
EXPECTED = re.compile("Failed to load resource")  # what a browser itself says of an answer that is not 2xx


class Visits:
    """A browser, and what its pages asked for and said."""

    def __init__(self, browser):
        self.browser = browser
        self.elsewhere, self.wrong = [], []

    def context(self, width=1280, **options):
        options = {"locale": "en-US", "color_scheme": "light", "reduced_motion": "reduce", **options}
        context = self.browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.route("**/*", self._route)
        context.set_default_timeout(30_000)
        return context

    def open(self, address, width=1280, refused=False, **options):
        """A page that is there; `refused` if the server is expected to refuse something."""
        page = self.context(width, **options).new_page()
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda said: self._hear(said, refused))
        page.goto(address)
        return page

    def open_map(self, address, **options):
        """A page whose map is drawn."""
        page = self.open(address, **options)
        page.wait_for_selector("#map [role=grid]")
        return page

    def _hear(self, said, refused):
        if said.type == "error" and not (refused and EXPECTED.search(said.text)):
            self.wrong.append(said.text)

    def _route(self, route):
        address = urlsplit(route.request.url)
        if address.scheme in ("file", "data", "blob", "about") or address.hostname == "127.0.0.1":
            route.continue_()
        else:
            self.elsewhere.append(route.request.url)
            route.abort()

    def close(self):
        for context in self.browser.contexts:
            context.close()
        assert self.wrong == [], self.wrong
        assert self.elsewhere == [], self.elsewhere


@contextmanager
def chromium():
    """A browser, for the tests of one file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def values(page, selector):
    """The numbers of the elements, every digit of them."""
    return page.eval_on_selector_all(f"{selector}", "all => all.map(one => Number(one.value))")


def texts(page, selector):
    return page.eval_on_selector_all(selector, "all => all.map(one => one.textContent)")


def cells_by_keys(page, grid="#map [role=grid]"):
    """Every number of a map as somebody without a mouse reads it: cell by cell, with the arrow keys."""
    page.focus(grid)
    return page.evaluate(WALK, grid)


WALK = """selector => {
  const grid = document.querySelector(selector), { rows, columns } = grid.dataset, found = [];
  const event = (key, ctrlKey) => new KeyboardEvent("keydown", { key, ctrlKey, bubbles: true });
  const press = (key, ctrlKey = false) => grid.dispatchEvent(event(key, ctrlKey));
  press("Home", true);
  for (let row = 0; row < rows; row++) {
    const line = [];
    for (let column = 0; column < columns; column++) {
      line.push(Number(grid.querySelector("[role=gridcell] data").value));
      press("ArrowRight");
    }
    found.push(line);
    press("Home");
    press("ArrowDown");
  }
  return found;
}"""


def until(page, expression, argument=None):
    """Wait for something to be true. (Playwright's own way needs `eval`, which the page's policy forbids.)"""
    end = time.monotonic() + 30
    while not page.evaluate(expression, argument):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


PROBE = """([row, column]) => {
  const cells = document.querySelector("#map .cells"), canvas = cells.querySelector("canvas");
  const across = canvas.width / cells.dataset.columns, down = canvas.height / cells.dataset.rows;
  const at = [Math.floor((column + 0.12) * across), Math.floor((row + 0.12) * down)];
  return [...canvas.getContext("2d").getImageData(...at, 1, 1).data].slice(0, 3);
}"""


def colour_at(page, row, column):
    """The colour of a cell, near its corner, where no number is."""
    return page.evaluate(PROBE, [row, column])
