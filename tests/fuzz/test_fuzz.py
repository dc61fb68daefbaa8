"""Parsers of foreign bytes in the gate: what was found before, and a short run that is the same every time.

The long runs are `make fuzz MINUTES=…`.
"""

import random

import pytest

from tests.fuzz.mutate import STRANGE, TOKENS, Found, drive, inputs, mutated
from tests.fuzz.table import TARGETS
from tests.fuzz.target import CORPUS, Target

SEED = 9
SHORT = 400
SHORT_OF_SLOW = 60
NAIVE_MOST = 3_000  # inputs within which the plain way breaks

KEPT = [
    pytest.param(target, name, id=f"{target.name}/{name}")
    for target in TARGETS.values()
    for name in target.kept()
]
EACH = [pytest.param(target, id=name) for name, target in TARGETS.items()]


@pytest.mark.parametrize(("target", "name"), KEPT)
def test_earlier_findings_stay_fixed(target: Target, name: str) -> None:
    target.check(target.kept()[name])


@pytest.mark.parametrize("target", EACH)
def test_inputs_recorded_from_real_agents_keep_every_promise(target: Target) -> None:
    for data in target.seeds():
        target.check(data)


@pytest.mark.parametrize("target", EACH)
def test_changed_inputs_keep_every_promise(target: Target) -> None:
    got = drive(
        target.check,
        target.seeds(),
        seed=SEED,
        count=len(target.seeds()) + (SHORT_OF_SLOW if target.slow else SHORT),
    )
    if isinstance(got, Found):
        raise AssertionError(f"broken by {got.data!r}") from got.error


@pytest.mark.parametrize("target", EACH)
def test_the_naive_parser_breaks_the_promise(target: Target) -> None:
    """The control: the same inputs, the same promise, the parser as one would write it first."""
    got = drive(target.naive, target.seeds(), seed=SEED, count=NAIVE_MOST)
    assert isinstance(got, Found), f"{got} inputs and the plain way still stands: this target proves nothing"


def test_every_target_has_a_name_of_its_own_and_every_directory_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} <= set(TARGETS)


def test_the_same_seed_gives_the_same_inputs() -> None:
    def some(seed: int) -> list[bytes]:
        made = inputs([b'{"a": [1, {"b": "c"}]}', b"x\ny"], seed)
        return [next(made) for _ in range(300)]

    assert some(1) == some(1) != some(2)


def test_changes_reach_types_sizes_and_bytes() -> None:
    """The driver itself: what it is made to try is tried."""
    seed, chance = b'{"a": "x", "b": [1]}', random.Random(1)
    made = [mutated(seed, [seed], chance) for _ in range(4_000)]
    assert any(b'"a": []' in data for data in made)
    assert any(b"1" + b"0" * 400 in data for data in made)
    assert any(b"\\ud800" in data for data in made) and any(b"\xed\xa0\x80" in data for data in made)
    assert any(data.count(b"[") > 1_000 for data in made)
    assert len(STRANGE) > 40 and len(TOKENS) > 40
