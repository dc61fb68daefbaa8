import pytest
from msgspec.structs import replace

from headcount.core.values.process import Match, same_process
from headcount.core.values.verdict import Proof, Standing, Verdict, judge_place
from tests.rig.core_values import HERE, process

P = process(100)


@pytest.mark.parametrize(
    ("other", "match"),
    [
        (P, Match.SAME),
        (replace(P, inode=1), Match.DIFFERENT),
        (replace(P, inode=None), Match.SAME),
        (replace(P, inode=None, started=1), Match.DIFFERENT),
        (replace(P, inode=None, started=None), Match.UNKNOWN),
        (replace(P, pid=101), Match.DIFFERENT),
        (replace(P, boot="boot-2"), Match.DIFFERENT),
        (replace(P, namespace=1), Match.UNKNOWN),
    ],
)
def test_two_identities_are_same_different_or_unknown(other, match):
    assert same_process(P, other) is match
    assert same_process(other, P) is match


def test_the_inode_decides_where_start_ticks_are_equal():
    """Accident L2: a pid reused within one tick has the same pid and start time."""
    reused = replace(P, inode=P.inode + 1)
    assert (reused.pid, reused.started) == (P.pid, P.started)  # the naive key calls them one process
    assert same_process(P, reused) is Match.DIFFERENT


def test_another_boot_of_this_machine_is_a_proof_of_death():
    verdict = judge_place(P, replace(HERE, boot="boot-2"), HERE.machine)
    assert (verdict.standing, verdict.proof) == (Standing.DEAD, Proof.REBOOTED)


def test_another_machine_says_nothing():
    assert (
        judge_place(P, replace(HERE, boot="boot-2", machine="other"), HERE.machine).standing
        is Standing.UNKNOWN
    )


def test_another_namespace_says_nothing():
    assert judge_place(P, replace(HERE, namespace=7), HERE.machine).standing is Standing.UNKNOWN


def test_death_without_a_proof_cannot_be_written_down():
    with pytest.raises(ValueError, match="proof"):
        Verdict(Standing.DEAD, "silence")
    with pytest.raises(ValueError, match="proof"):
        Verdict(Standing.UNKNOWN, "silence", Proof.EXITED)
