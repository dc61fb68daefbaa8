"""Claims under fire and heirs, a few rounds; the long ones are `python -m tests.campaign claims never_inherited`."""

import pytest

from tests.campaign.claims import claims, never_inherited
from tests.campaign.in_pid_namespace import is_possible
from tests.campaign.outcome import silent


def test_under_kills_of_holders_waiters_and_the_daemon_the_history_is_one_ledgers_and_a_broken_one_is_caught():
    """G4; the control grants what another holds, one time in ten."""
    outcome = claims.run(seed=1, seconds=60, progress=silent, operations=700, controls=1, wants_kills=False)
    assert outcome.not_as_wanted() == []


@pytest.mark.root
@pytest.mark.skipif(not is_possible(), reason="pid namespaces cannot be made here")
def test_conversation_token_terminal_directory_name_and_pid_make_nobody_the_heir_of_a_claim():
    """G4, C1, C10; the control takes whoever asks for the holder."""
    outcome = never_inherited.run(seed=1, seconds=60, progress=silent, rounds=8, control_rounds=2)
    assert outcome.not_as_wanted() == []
