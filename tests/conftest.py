"""Shared by all tests: repeatable randomness, no time limit per example, and a way to see errors as users see them."""

from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings
from jaxtyping import config

settings.register_profile("nungil", deadline=None, print_blob=True)
settings.register_profile("quick", deadline=None, print_blob=True, max_examples=10)  # for `make quick`
settings.load_profile("nungil")

torch.set_num_threads(1)  # the models of the tests are so small that threads would only wait for each other


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(7)


@pytest.fixture
def as_installed() -> Iterator[None]:
    """Switch off the shape checks of the test run: a user's wrong shapes meet only our own checks."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
