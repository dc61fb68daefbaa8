"""The verbs: which there are, what each is for, and the help that lists them.

Rules
  1. A verb is a line here and a file in commands/; nothing else knows the list.
  2. Imports nothing of the verbs: one call pays for one verb.

Not here: parsing (options.py), dispatch (main.py).
"""

from typing import NamedTuple


class Verb(NamedTuple):
    name: str
    group: str
    help: str
    examples: tuple[str, ...]


VERBS = {
    verb.name: verb
    for verb in (
        Verb(
            "ps",
            "Look",
            "list the agents that are alive",
            (
                "headcount ps",
                "headcount ps .",
                "headcount ps ~/src/api",
                "headcount ps --wide",
                "headcount ps --all --json",
                "headcount ps --host ws,laptop",
                "headcount ps --fleet",
            ),
        ),
        Verb("tui", "Look", "the same, alive, on the whole terminal", ("headcount", "headcount tui")),
        Verb(
            "statusline",
            "Look",
            "one short line for a prompt or a status bar",
            ("headcount statusline", "headcount statusline --json"),
        ),
        Verb(
            "show",
            "Look",
            "everything known of one session",
            ("headcount show 7f3a", "headcount show auth-refactor --json"),
        ),
        Verb(
            "peek",
            "Look",
            "the last lines of a session's conversation or terminal",
            ("headcount peek 7f3a", "headcount peek auth-refactor -n 60", "headcount peek 7f3a --pane"),
        ),
        Verb(
            "explain",
            "Look",
            "why a session is believed to be what it is",
            ("headcount explain 7f3a", "headcount explain 7f3a --bundle report.json"),
        ),
        Verb(
            "watch",
            "Look",
            "tell what happens, as it happens",
            ("headcount watch", "headcount watch --json --since 1200", "headcount watch --host ws"),
        ),
        Verb(
            "wait",
            "Look",
            "wait until a session is in a state",
            (
                "headcount wait 7f3a --until done,idle",
                "headcount wait auth-refactor --until permission --timeout 600",
            ),
        ),
        Verb(
            "jump",
            "Look",
            "go to a session's terminal",
            ("headcount jump 7f3a", "headcount jump auth-refactor"),
        ),
        Verb(
            "next",
            "Look",
            "go to the agent that has waited for you longest",
            ("headcount next", "headcount next --print"),
        ),
        Verb(
            "log",
            "Look",
            "what happened before",
            ("headcount log", "headcount log 7f3a --since 2h", "headcount log --follow --json"),
        ),
        Verb(
            "claim",
            "Claim",
            "take an item, so that no other agent works on it",
            (
                "headcount claim task:AUTH-12",
                "headcount claim task:AUTH-12 --wait 10m --note 'login form'",
                "headcount claim 'path:src/auth/**' --json",
                "headcount claim branch:api#main --as auth-refactor",
            ),
        ),
        Verb(
            "release",
            "Claim",
            "give an item back",
            (
                "headcount release task:AUTH-12",
                "headcount release task:AUTH-12 --as auth-refactor",
                "headcount release task:AUTH-12 --force",
            ),
        ),
        Verb(
            "claims",
            "Claim",
            "who holds what",
            ("headcount claims", "headcount claims --json", "headcount claims --history task:AUTH-12"),
        ),
        Verb(
            "check",
            "Claim",
            "whether a claim's number is still the current one",
            ("headcount check task:AUTH-12 12 && ./deploy", "headcount check branch:api#main 17 --json"),
        ),
        Verb(
            "hold",
            "Claim",
            "run a command under a claim",
            (
                "headcount hold port:5432 -- postgres -D data",
                "headcount hold task:NIGHTLY --wait 5m -- make nightly",
            ),
        ),
        Verb(
            "handoff",
            "Claim",
            "give an item to another live session",
            (
                "headcount handoff task:AUTH-12 c01d",
                "headcount handoff task:AUTH-12 flaky-ci",
                "headcount handoff task:AUTH-12 flaky-ci --as auth-refactor",
            ),
        ),
        Verb(
            "whoami",
            "Claim",
            "which session you are, and how that is known",
            ("headcount whoami", "headcount whoami --explain", "headcount whoami --json"),
        ),
        Verb(
            "launch",
            "Run",
            "start an agent that is known from its first moment",
            (
                "headcount launch -- claude",
                "headcount launch --name auth-refactor --role builder --group api -- claude --model opus",
                "headcount launch --tmux work -- claude",
            ),
        ),
        Verb(
            "resume",
            "Run",
            "go on with a session's conversation",
            ("headcount resume 02b7", "headcount resume i18n --tmux", "headcount resume 02b7 --print"),
        ),
        Verb(
            "guard",
            "Claim",
            "keep commits and pushes off what others have claimed",
            (
                "headcount guard git --install",
                "headcount guard git",
                "headcount guard git pre-push --strict",
                "headcount guard git --uninstall",
            ),
        ),
        Verb(
            "leftovers",
            "End",
            "what ended sessions left behind: processes, panes, worktrees",
            ("headcount leftovers", "headcount leftovers 02b7", "headcount leftovers --kind process --json"),
        ),
        Verb(
            "reap",
            "End",
            "end processes that dead sessions left; a dry run without --yes",
            (
                "headcount reap",
                "headcount reap 02b7 --yes",
                "headcount reap --pid 41402 --yes --kill-after 5",
            ),
        ),
        Verb(
            "stop",
            "End",
            "end a session's process, and tell whether it ended",
            (
                "headcount stop 7f3a",
                "headcount stop auth-refactor --kill-after 10",
                "headcount stop 7f3a --all",
            ),
        ),
        Verb(
            "close",
            "End",
            "end a session's process, then what it left",
            ("headcount close 7f3a", "headcount close 7f3a --all --close-window"),
        ),
        Verb(
            "web",
            "Look",
            "open the page in your browser",
            ("headcount web", "headcount web --print", "headcount web --close"),
        ),
        Verb(
            "up",
            "Run",
            "start the daemon (it also starts on first use)",
            ("headcount up", "headcount up --foreground"),
        ),
        Verb("down", "Run", "stop the daemon; agents are not touched", ("headcount down",)),
        Verb("status", "Run", "how the daemon is", ("headcount status", "headcount status --json")),
        Verb(
            "doctor",
            "Run",
            "find what is wrong, with the next step for each",
            ("headcount doctor", "headcount doctor --json"),
        ),
        Verb(
            "hooks",
            "Run",
            "put the reporting line into your agents' settings, or take it out",
            (
                "headcount hooks install --dry-run",
                "headcount hooks install",
                "headcount hooks install --guard --context",
                "headcount hooks uninstall",
            ),
        ),
        Verb(
            "fleet",
            "Run",
            "share claims with other hosts through one PostgreSQL",
            (
                "headcount fleet join postgresql://headcount@db.example.org/agents --name ws",
                "headcount fleet join - < address",
                "headcount fleet status",
                "headcount fleet leave",
            ),
        ),
        Verb(
            "notify",
            "Run",
            "see whether notifications reach you",
            ("headcount notify test", "headcount notify test --json"),
        ),
        Verb(
            "mcp",
            "Run",
            "let agents ask and claim by MCP, and tell them of it",
            (
                "headcount mcp install --dry-run",
                "headcount mcp install",
                "headcount mcp status",
                "headcount mcp skill >> AGENTS.md",
                "headcount mcp uninstall --agent codex",
            ),
        ),
        Verb(
            "service",
            "Run",
            "let systemd start the daemon and keep it up",
            ("headcount service install", "headcount service status", "headcount service install --print"),
        ),
        Verb(
            "demo",
            "Learn",
            "watch harmless stand-in agents work, wait and die",
            ("headcount demo", "headcount demo --seconds 8"),
        ),
        Verb(
            "completion",
            "Learn",
            "completion for your shell",
            (
                'eval "$(headcount completion bash)"',
                "headcount completion fish > ~/.config/fish/completions/headcount.fish",
            ),
        ),
    )
}

EXIT_CODES = "Exit codes: 0 done, 1 fault, 2 usage, 3 refused, 4 daemon unavailable, 5 not found."


def general_help() -> str:
    lines = [
        "usage: headcount [VERB] [OPTIONS]        without a verb: headcount tui; in a pipe: ps",
        "",
        "Knows which coding agents on this machine are alive and what each is doing.",
    ]
    for group in ("Look", "Claim", "End", "Run", "Learn"):
        lines += ["", f"{group}:"]
        lines += [f"  {verb.name:<11} {verb.help}" for verb in VERBS.values() if verb.group == group]
    lines += [
        "",
        "Examples:",
        "  headcount                          what runs now, what needs you first",
        "  headcount explain 7f3a             on which evidence",
        "  headcount wait 7f3a --until done && make test",
        "",
        "S is an id, the beginning of one, or a name. Every verb has --help and --json.",
        EXIT_CODES,
    ]
    return "\n".join(lines)
