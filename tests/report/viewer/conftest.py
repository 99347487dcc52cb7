"""A real browser, started once a module; every page of a test must stay without errors."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalplug.report.viewer.bundle import modules

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; skips where it or playwright is absent.

    No longer than a module: while playwright is there its event loop counts as running, and tests
    elsewhere could not start one.
    """
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if executable is None:
        pytest.skip("no chromium (apt-get install chromium, or set CHROMIUM)")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


class Tab:
    """A page, all that it complained of, and all that it asked the network for."""

    def __init__(self, context: BrowserContext) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._on_dialog)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _on_dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, place: Path | str, hash: str = "") -> Page:
        url = place.resolve().as_uri() if isinstance(place, Path) else place
        self.page.goto(url + hash)
        self.page.wait_for_selector("h1")
        return self.page

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements that are shown."""
        read = "all => all.filter(e => e.checkVisibility()).map(e => e.innerText.trim())"
        found: list[str] = self.page.eval_on_selector_all(selector, read)
        return found

    def shows(self, selector: str, texts: list[str]) -> None:
        """Wait until the elements that are shown have these texts."""
        deadline = time.monotonic() + 10
        while self.texts(selector) != texts and time.monotonic() < deadline:
            self.page.wait_for_timeout(20)
        assert self.texts(selector) == texts


Tabs = Callable[..., Tab]


@pytest.fixture
def tabs(browser: Browser) -> Iterator[Tabs]:
    """Opens tabs, each with options of its own: width, color_scheme."""
    opened: list[tuple[BrowserContext, Tab]] = []

    def open_tab(width: int = 1440, **options: Any) -> Tab:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        opened.append((context, Tab(context)))
        return opened[-1][1]

    yield open_tab
    for context, tab in opened:
        context.close()
        assert tab.complaints == []


@pytest.fixture
def tab(tabs: Tabs) -> Tab:
    return tabs()


@pytest.fixture(scope="module")
def call(browser: Browser) -> Callable[..., Any]:
    """Calls a function of a module: ``call("locate.js", "locate", pred, reply)``."""
    page = browser.new_page()

    def evaluate(module: str, function: str, *arguments: Any) -> Any:
        page.evaluate("called = null")
        text = modules(module) + f"\nglobalThis.called = {function};"
        page.add_script_tag(content=text, type="module")
        page.wait_for_function("() => called !== null")  # a module runs when it is its turn
        return page.evaluate("given => called(...given)", list(arguments))

    return evaluate
