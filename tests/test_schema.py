"""Schemathesis against a real server: whatever the OpenAPI document allows, and much that it does not, is no 500."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from small_server import running, small_shelf

EXAMPLES = 25  # of each kind for each path
PATHS = ("/v1/translate", "/v1/classify", "/v1/look", "/v1/explain", "/v1/intervene", "/v1/models", "/readyz")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(small_shelf(tmp_path_factory.mktemp("models"), "luong", "labels", "transformer")) as found:
        yield found


@pytest.fixture(scope="module")
def operations(server):
    """By path, what the document of the server says of it."""
    document = schemathesis.openapi.from_url(f"{server.address.url}/openapi.json")
    return {found.ok().path: found.ok() for found in document.get_all_operations()}


def test_every_path_of_v1_is_tried(operations):
    assert {path for path in operations if path.startswith("/v1")} <= set(PATHS)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["allowed", "not allowed"])
@pytest.mark.parametrize("path", PATHS)
def test_no_request_makes_the_server_fail(server, operations, path, mode):
    if mode == GenerationMode.NEGATIVE and path not in PATHS[:5]:
        return  # nothing can be wrong with a request that has neither a body nor parameters
    statuses = set()

    @given(operations[path].as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    def each(case):
        response = case.call(timeout=120)
        assert response.status_code < 500, f"{response.status_code}: {response.text}\n{case.as_curl_command()}"
        statuses.add(response.status_code)
        if response.status_code >= 400:
            assert response.json()["error"]["message"]
            assert "Traceback" not in response.text

    each()
    if mode == GenerationMode.NEGATIVE:
        assert statuses & {400, 422}
    assert server.get("/readyz").status_code == 200
