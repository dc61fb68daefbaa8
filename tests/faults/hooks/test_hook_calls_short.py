"""The hook line in every state of the daemon, a few calls; the long one is `python -m tests.campaign hook_calls`."""

import pytest

from tests.campaign.hooks import hook_calls
from tests.campaign.in_pid_namespace import is_possible
from tests.campaign.outcome import silent


@pytest.mark.root
@pytest.mark.skipif(not is_possible(), reason="a full disk needs mounts of our own")
def test_the_hook_line_exits_0_silently_whatever_the_daemon_does_and_curl_does_not():
    """G7, H7, H13, H17; the control asks the daemon by curl."""
    outcome = hook_calls.run(seed=1, seconds=60, progress=silent, calls=160, naive_calls=1)
    assert outcome.not_as_wanted() == []
