"""The wire from our own OpenAPI document: a short run that is the same every time. The long one is `make fuzz`."""

import pytest

from tests.fuzz.wire import is_possible, run

SEED = 9
ENOUGH = 30.0  # seconds; a busy machine makes fewer requests, not a red test

pytestmark = pytest.mark.root


@pytest.fixture(autouse=True)
def a_namespace() -> None:
    if not is_possible():
        pytest.skip("this system makes no pid namespaces for us")


def test_no_request_gets_a_500_or_an_undocumented_answer() -> None:
    requests, faults = run(seconds=ENOUGH, seed=SEED, examples=1)
    assert faults == []
    assert requests > 0


@pytest.mark.parametrize(
    ("flaw", "only", "seen"),
    [("bodies", "POST /v1/claims", "Server error"), ("schema", "GET /healthz", "violates schema")],
)
def test_a_daemon_that_deviates_from_the_document_is_caught(flaw: str, only: str, seen: str) -> None:
    """The control: the same requests, a daemon with one flaw."""
    _, faults = run(seconds=ENOUGH, seed=SEED, examples=40, flaw=flaw, only=only)
    assert any(seen in fault for fault in faults), faults
