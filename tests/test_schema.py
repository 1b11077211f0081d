"""Schemathesis against a real server: whatever the OpenAPI document allows, and much that it does not, is no 500."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from small_server import running, small_shelf

EXAMPLES = 40  # for each path


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """A server, and the document that it gives of itself."""
    shelf = small_shelf(tmp_path_factory.mktemp("models"), "luong", "labels", "transformer")
    with running(shelf, deadline=60.0) as server:
        yield schemathesis.openapi.from_url(f"{server.address.url}/openapi.json")


schema = schemathesis.pytest.from_fixture("document")


@pytest.mark.slow
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
def test_no_request_makes_the_server_fail(case):
    response = case.call()
    not_a_server_error_but_for_busy(case, response)


def not_a_server_error_but_for_busy(case, response):
    if response.status_code not in (503, 504):
        case.validate_response(response, checks=(not_a_server_error,))
