"""Claims under fire and heirs, a few rounds; the long ones are `python -m tests.campaign claims never_inherited`."""

import pytest

from tests.campaign.claims import claims, never_inherited
from tests.campaign.in_pid_namespace import is_possible
from tests.campaign.outcome import silent


def test_claims_stay_linearizable_under_kills_and_a_broken_ledger_is_caught():
    """G4; the control grants what another holds, one time in ten."""
    outcome = claims.run(seed=1, seconds=60, progress=silent, operations=700, controls=1, wants_kills=False)
    assert outcome.not_as_wanted() == []


@pytest.mark.root
@pytest.mark.skipif(not is_possible(), reason="pid namespaces cannot be made here")
def test_no_claim_is_inherited_by_conversation_token_terminal_directory_name_or_pid():
    """G4, C1, C10; the control accepts any caller as the holder."""
    outcome = never_inherited.run(seed=1, seconds=60, progress=silent, rounds=8, control_rounds=2)
    assert outcome.not_as_wanted() == []
