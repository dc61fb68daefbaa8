"""The verbs: which there are, what each is for, and the help that lists them.

Rules of this file
  1. A verb is a line here and a file in commands/; nothing else knows the list.
  2. Imports nothing of the verbs: one call pays for one verb.

Not here: parsing (parsing.py), dispatch (main.py).
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
            ("headcount ps", "headcount ps .", "headcount ps --all --json"),
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
            "explain",
            "Look",
            "why a session is believed to be what it is",
            ("headcount explain 7f3a", "headcount explain 7f3a --bundle report.json"),
        ),
        Verb(
            "watch",
            "Look",
            "tell what happens, as it happens",
            ("headcount watch", "headcount watch --json --since 1200"),
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
            ("headcount release task:AUTH-12", "headcount release task:AUTH-12 --as auth-refactor"),
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
            ("headcount handoff task:AUTH-12 c01d", "headcount handoff task:AUTH-12 flaky-ci"),
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
            ),
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
    for group in ("Look", "Claim", "Run", "Learn"):
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
