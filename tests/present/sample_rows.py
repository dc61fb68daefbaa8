"""The sessions of the documented screen, as the wire has them."""

from typing import Any

NOW = 1_800_000_000.0


def at(ago: float) -> str:
    from headcount.present.time_text import stamp

    return stamp(NOW - ago)


def session(id: str = "7f3a0000", **fields: Any) -> dict[str, Any]:
    ago = fields.pop("ago", 60)
    return {
        "id": id,
        "agent": "claude-code",
        "conversation": None,
        "pid": 100,
        "liveness": "alive",
        "activity": "working",
        "waiting_on": None,
        "failure": None,
        "doing": None,
        "since": at(ago),
        "name": None,
        "role": None,
        "groups": [],
        "cwd": None,
        "started_at": at(ago + 3600),
        "last_event_at": at(ago),
        "source": "hook",
        "background": [],
        "provisional": False,
        "parent": None,
        "predecessor": None,
        "claims": [],
        "alarms": [],
        "ended": None,
        **fields,
    }


SCREEN = [
    session("5e61aaaa", activity="idle", ago=3 * 3600, agent="opencode", name="scratch", cwd="/nowhere/tmp",
            background=[{"id": "1", "kind": "shell", "label": "npm run dev"}], where="work:1.0"),
    session("7f3aaaaa", activity="waiting", waiting_on="permission", ago=250, name="auth-refactor",
            cwd="/nowhere/api@auth-12", doing="Bash: alembic upgrade head", where="work:3.1"),
    session("c01daaaa", activity="waiting", waiting_on="question", ago=38, name="flaky-ci", cwd="/nowhere/web@main",
            doing="Retry policy (3 options)", where="vscode"),
    session("19beaaaa", activity="failed", failure="limit", ago=7300, name="docs-sweep", cwd="/nowhere/docs@main",
            doing="resets 18:10", where="work:5.0"),
    session("a44eaaaa", activity="done", ago=670, agent="codex", name="rate-limiter", cwd="/nowhere/api@rl-7",
            where="work:2.0"),
    session("d9c3aaaa", activity="working", ago=52, agent="codex", name="bench-sqlite", cwd="/nowhere/core@bench",
            doing="make bench", where="vscode",
            background=[{"id": "1", "kind": "subagent", "label": ""}, {"id": "2", "kind": "subagent", "label": ""}]),
    session("02b7aaaa", activity="working", ago=560, name="i18n", cwd="/nowhere/web@i18n",
            doing="Edit: locales/fr.json", where="work:4.2"),
    session("88f0aaaa", activity="unknown", ago=370, agent="codex", cwd="/nowhere/infra@main",
            doing="alive; rollout unreadable", where="work:6.1"),
]  # fmt: skip

DRAWN = """\
  ID    STATE       FOR  AGENT     NAME           REPO         DOING                       WHERE
▲ 7f3a  permission   4m  claude    auth-refactor  api@auth-12  Bash: alembic upgrade head  work:3.1
▲ c01d  question    38s  claude    flaky-ci       web@main     Retry policy (3 options)    vscode
■ 19be  limit        2h  claude    docs-sweep     docs@main    resets 18:10                work:5.0
✓ a44e  done        11m  codex     rate-limiter   api@rl-7     finished, not visited       work:2.0
● 02b7  working      9m  claude    i18n           web@i18n     Edit: locales/fr.json       work:4.2
● d9c3  working     52s  codex     bench-sqlite   core@bench   make bench +2 subagents     vscode
? 88f0  unknown      6m  codex     -              infra@main   alive; rollout unreadable   work:6.1
○ 5e61  idle         3h  opencode  scratch        tmp          1 background: npm run dev   work:1.0
8 alive: 2 need you, 1 stopped, 1 done, 2 working, 1 unknown, 1 idle"""
