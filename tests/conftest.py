"""Shared by all tests: repeatable randomness, no time limit per example, and a way to see errors as users see them."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from browser import CHROMIUM, WHY, Visits, chromium
from hypothesis import settings
from jaxtyping import config

settings.register_profile("nungil", deadline=None, print_blob=True)
settings.register_profile("quick", deadline=None, print_blob=True, max_examples=10)  # for `make quick`
settings.load_profile("nungil")

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts in the background ignore Ctrl-C
torch.set_num_threads(1)  # the models of the tests are so small that threads would only wait for each other


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", default="6,3", metavar="ONE,TWO", help="kills of runs in one and in two processes")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What a machine without a browser leaves out is said in a line."""
    if CHROMIUM is None:
        count = sum("needs a browser" in str(report.longrepr) for report in terminalreporter.stats.get("skipped", []))
        if count:
            terminalreporter.write_line(f"Left out: {count} tests of the page in a real browser; {WHY}.")


@pytest.fixture(scope="session")
def kills(request: pytest.FixtureRequest) -> dict[int, int]:
    """How often a run of each model family is killed, by the number of its processes."""
    one, two = request.config.getoption("--kills").split(",")
    return {1: int(one), 2: int(two)}


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(7)


@pytest.fixture
def as_installed() -> Iterator[None]:
    """Switch off the shape checks of the test run: a user's wrong shapes meet only our own checks."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium, for all tests of a file."""
    with chromium() as found:
        yield found


@pytest.fixture
def visits(browser: Any) -> Iterator[Visits]:
    """Its pages; whatever went wrong on one of them fails the test."""
    found = Visits(browser)
    yield found
    found.close()
