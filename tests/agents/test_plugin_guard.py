"""A foreign adapter behind its guard: late, wrong or broken, its caller has an answer in time."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from headcount.agents.base_adapter import Adapter
from headcount.agents.interface import Unread
from headcount.agents.plugin_guard import Guarded, unguarded, why_unfit
from headcount.bounded_thread import BoundedThreads, Late
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.times import ADAPTER_WITHIN

FACTS = ProcessFacts(ProcessIdentity("boot", 1, 5, 5, 5), 1, 1000, "x", ("x",), "/bin/x")
SOON = ADAPTER_WITHIN * 10  # far more than any limit here, far less than for ever


class Plain(Adapter):
    name = "plain"
    label = "plain"

    def recognise(self, facts: ProcessFacts) -> bool:
        return True


class Hanging(Plain):
    """Hangs until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.asked = 0

    def recognise(self, facts: ProcessFacts) -> bool:
        self.asked += 1
        self.let_go.wait()
        return True

    def glimpse(self, path: Path, conversation: str) -> Any:
        self.let_go.wait()


def test_three_members_are_a_complete_adapter() -> None:
    assert why_unfit(Plain()) is None
    guarded = Guarded(Plain())
    assert guarded.recognise(FACTS) and not guarded.is_helper(FACTS) and not guarded.is_launcher(FACTS)
    assert isinstance(guarded.translate(b"{}", 1.0, "hook"), Unread)
    assert guarded.home_of("/x", None) == "/x" and guarded.resume("x") is None
    assert guarded.faults == {}


def test_an_adapter_without_recognise_is_refused() -> None:
    class Nothing(Adapter):
        name = label = "nothing"

    assert why_unfit(Nothing()) == "it has no recognise"


def test_a_hanging_adapter_delays_one_call_and_is_skipped_until_it_returns() -> None:
    hanging = Hanging()
    guarded = Guarded(hanging)
    began = time.monotonic()
    assert [guarded.recognise(FACTS) for _ in range(100)] == [False] * 100
    assert time.monotonic() - began < SOON
    assert hanging.asked == 1 and guarded.faults["recognise"] == 100
    assert guarded.fault == "recognise: hangs"
    hanging.let_go.set()
    until = time.monotonic() + SOON
    while not guarded.recognise(FACTS):
        assert time.monotonic() < until
    asked = threading.Thread(target=Hanging().recognise, args=(FACTS,), daemon=True)  # the control: unguarded
    asked.start()
    asked.join(0.5)
    assert asked.is_alive()


def test_a_slow_read_does_not_block_recognising_processes() -> None:
    class Slow(Hanging):
        def recognise(self, facts: ProcessFacts) -> bool:
            return True

    slow = Slow()
    guarded = Guarded(slow)
    reading = threading.Thread(target=guarded.glimpse, args=(Path("/x"), "x"), daemon=True)
    reading.start()
    assert guarded.recognise(FACTS)
    slow.let_go.set()
    reading.join(SOON)
    assert not reading.is_alive()


def test_an_exception_or_a_wrong_type_is_no_answer_and_is_counted() -> None:
    class Wrong(Plain):
        def recognise(self, facts: ProcessFacts) -> bool:
            return "yes"  # type: ignore[return-value]

        def resume(self, conversation: str) -> tuple[str, ...] | None:
            raise SystemExit(3)

        def glimpse(self, path: Path, conversation: str) -> None:
            raise ValueError("a prompt that it was reading")

    guarded = Guarded(Wrong())
    assert guarded.recognise(FACTS) is False and guarded.resume("x") is None
    assert guarded.glimpse(Path("/x"), "x") is None
    assert guarded.faults == {"recognise": 1, "resume": 1, "glimpse": 1}
    assert guarded.fault == "glimpse: ValueError"  # its words may quote what it read


def test_unguarded_shows_the_adapters_faults() -> None:
    adapter = Plain()
    assert unguarded(Guarded(adapter)) is adapter and unguarded(adapter) is adapter


def test_two_callers_at_once_are_both_answered() -> None:
    threads = BoundedThreads("x", most=1)
    answers: list[int] = []
    callers = [
        threading.Thread(target=lambda nth=nth: answers.append(threads.ask_blocking(lambda: nth, SOON)))
        for nth in range(20)
    ]
    for each in callers:
        each.start()
    for each in callers:
        each.join(SOON)
    assert sorted(answers) == list(range(20))


def test_a_late_answer_is_not_given_to_another_caller() -> None:
    threads, let_go = BoundedThreads("x", most=1), threading.Event()

    def late() -> str:
        let_go.wait()
        return "old"

    with pytest.raises(Late, match="within"):
        threads.ask_blocking(late, 0.05)
    with pytest.raises(Late, match="hangs"):
        threads.ask_blocking(lambda: "new", 0.05)
    let_go.set()
    until = time.monotonic() + SOON
    while True:
        try:
            assert threads.ask_blocking(lambda: "new", 0.05) == "new"
            return
        except Late:
            assert time.monotonic() < until
