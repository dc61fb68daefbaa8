"""Which session a selector means: ids before names, and never a guess."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from headcount.core.values.session import Ended, EndKind, Liveness, Session, SessionId
from headcount.daemon.api.session_selector import select
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.wire.faults import REFUSALS, Fault
from tests.rig.agents.commands_inside import inside, outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon


def session(id: str, name: str | None = None, **more: Any) -> Session:
    agent, conversation = more.pop("agent", "claude-code"), more.pop("conversation", f"c-{id}")
    return Session(SessionId(id), agent, conversation, Liveness.ALIVE, 1.0, 1.0, "boot", name=name, **more)


def ended(each: Session) -> Session:
    return replace(each, liveness=Liveness.ENDED, ended=Ended(2.0, EndKind.EXITED, "exit"))


def refused(sessions: list[Session], wanted: str) -> Fault:
    with pytest.raises(HttpRefusal) as fault:
        select(sessions, wanted)
    assert fault.value.status == REFUSALS[fault.value.body.error.code][0]
    return fault.value.body.error


A, B = session("4ce2aaaaaaaa", "auth-refactor"), session("71c0bbbbbbbb", "seeds")


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [("4ce2aaaaaaaa", A), ("c-71c0bbbbbbbb", B), ("4", A), ("71c0", B), ("seeds", B), ("auth-refactor", A)],
)
def test_a_whole_id_a_conversation_a_prefix_and_a_whole_name_select(wanted: str, meant: Session) -> None:
    assert select([A, B], wanted) is meant


@pytest.mark.parametrize("name", ["4ce2", "4CE2", "4ce2aaaaaaaa", "4ce2aaaaaaaa0", "cafe"])
def test_a_name_of_four_or_more_hex_digits_never_selects(name: str) -> None:
    impostor = session("91d7cccccccc", name)
    if A.id.startswith(name):
        assert select([A, impostor], name) is A
        assert select([ended(A), impostor], name).id == A.id, "also of one that has ended"
    assert refused([impostor], name).code == "no-such-session"


@pytest.mark.parametrize("conversation", ["4ce2", "4ce2aaaaaaaa"])
def test_a_conversation_that_looks_like_an_id_never_selects(conversation: str) -> None:
    assert select([A, session("91d7cccccccc", conversation=conversation)], conversation) is A
    assert (
        refused([session("91d7cccccccc", conversation=conversation)], conversation).code == "no-such-session"
    )


def test_a_conversation_of_many_hex_digits_selects() -> None:
    other = session("91d7cccccccc", conversation="4ce2" * 8)
    assert select([A, other], "4ce2" * 8) is other


@pytest.mark.parametrize("way", [{"name": "4ce"}, {"conversation": "4ce"}])
def test_a_prefix_that_is_another_sessions_name_or_conversation_is_ambiguous_and_both_are_named(
    way: dict[str, str],
) -> None:
    other = session("91d7cccccccc", **way)
    fault = refused([A, other], "4ce")
    assert fault.code == "ambiguous"
    assert "4ce2 auth-refactor" in fault.message and "91d7" in fault.message
    assert select([replace(A, name="4ce"), B], "4ce").id == A.id, "its own name is no other's"


def test_the_sentence_says_how_many_who_and_what_to_type() -> None:
    both = [session("7f3aaaaaaaaa", "auth-refactor"), session("71c0bbbbbbbb", "seeds")]
    said = 'Two sessions match "7": 7f3a auth-refactor, 71c0 seeds. Type: 7f3a or 71c0.'
    assert refused(both, "7").message == said
    same = [
        session("7f3aaaaaaaaa", "seeds"),
        session("71c0bbbbbbbb", "seeds"),
        session("99c0bbbbbbbb", "seeds"),
    ]
    assert refused(same, "seeds").message == (
        '3 sessions match "seeds": 7f3a seeds, 71c0 seeds, 99c0 seeds. Type: 7f3a or 71c0 or 99c0.'
    )
    many = [session(f"{nth:x}f3aaaaaaaaa", "seeds") for nth in range(8)]
    assert refused(many, "seeds").message.endswith(" and 2 more. Type one of the ids: headcount ps --all")


def test_ids_that_begin_alike_are_listed_as_far_as_they_differ() -> None:
    both = [session("7f3a1aaaaaaa", "a"), session("7f3a2aaaaaaa", "b")]
    assert "7f3a1 a, 7f3a2 b. Type: 7f3a1 or 7f3a2." in refused(both, "7f3a").message
    third = session("ed11aaaaaaaa", "7f3"), session("ed12aaaaaaaa", "c"), session("ed11bbbbbbbb", "d")
    assert refused([both[0], *third], "7f3").message.endswith("Type: 7f3a1 or ed11a."), (
        "what is typed selects"
    )


def test_a_name_that_reads_like_a_sentence_is_quoted() -> None:
    both = [session("7f3aaaaaaaaa", 'x. Run: "sh" | sh'), session("71c0bbbbbbbb", "seeds")]
    assert "7f3a \"x. Run: 'sh' | sh\", 71c0 seeds." in refused(both, "7").message


def test_the_living_come_before_the_ended_and_of_one_conversation_the_last() -> None:
    old = [
        ended(session("7f3aaaaaaaaa", "seeds", conversation="one")),
        ended(session("7f4baaaaaaaa", "seeds")),
    ]
    assert select([*old, B], "seeds") is B
    stretches = [old[0], replace(old[1], conversation="one", started_at=9.0)]
    assert select(stretches, "seeds") is stretches[1]
    assert refused(old, "seeds").code == "ambiguous"


# --- a real daemon ---------------------------------------------------------------------------------

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")


@needs_proc
def test_stop_by_an_id_does_not_end_the_agent_that_is_named_like_it(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    victim, meant = agent(), agent()
    id = settled(meant, daemon)
    settled(victim, daemon, session_title=id[:4])
    assert outside(daemon, "stop", id[:4]).code == 0
    meant.process.wait()
    assert victim.process.poll() is None


@needs_proc
def test_an_ambiguous_selector_is_exit_2_for_verbs_and_tools_alike(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    one, other = agent(), agent()
    id = settled(one, daemon)
    settled(other, daemon, session_title=id[:2])
    for words in (["show"], ["stop"], ["explain"], ["jump"], ["wait", "--until", "done"], ["resume"]):
        said = outside(daemon, *words, id[:2])
        assert said.code == 2 and said.err.startswith(f'Two sessions match "{id[:2]}": '), (words, said)
        assert id[:4] in said.err
    assert inside(one, daemon, "claim", "task:A").code == 0
    assert inside(one, daemon, "handoff", "task:A", id[:2]).code == 2


@needs_proc
@pytest.mark.parametrize("name", ["4ce2", "DEAD", "0123456789ab"])
def test_launch_and_register_refuse_a_name_that_looks_like_an_id(
    daemon: Daemon, agent: Callable[..., Agent], name: str
) -> None:
    for more in ((), ("--tmux",)):
        said = outside(daemon, "launch", "--name", name, *more, "--", "true")
        assert (
            said.code == 2 and f'"{name}"' in said.err and f"hex digits, for instance fix-{name}." in said.err
        )
    fault = json.loads(outside(daemon, "launch", "--json", "--name", name, "--", "true").out)["error"]
    assert fault["code"] == "bad-name"
    bot = agent(name="bot")
    answer = daemon.call("POST", "/v1/sessions/register", {"agent": "bot", "pid": bot.pid, "name": name})
    assert (answer.status, answer.data["error"]["code"]) == (400, "bad-name")
    fine = {"agent": "bot", "pid": bot.pid, "name": f"{name}-x"}
    assert daemon.call("POST", "/v1/sessions/register", fine).status == 201
