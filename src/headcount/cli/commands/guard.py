"""`headcount guard git`: keep commits and pushes off what another live session has claimed.

Rules
  1. Exit 0: nothing stands in the way. 3: another holds it; the words name the holder and waiting.
  2. A guard that cannot ask lets git go on, with a warning; --strict does not.
  3. Taking the guard out, or weakening it, is for people.

Not here: what git is about to do and git's hook files (actions/git.py), who may what (the daemon).
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.clean_text import ITEM_MOST, clean, said
from headcount.cli import output
from headcount.cli.actions import git
from headcount.cli.humans_only import refuse_agents
from headcount.client.faults import ClientFault, WrongCall
from headcount.present import holders
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import Conflict, Conflicts

PATHS_AT_ONCE = 2_000  # a body has a limit, and a commit may touch more
SHOWN_MOST = 5

NOTE = (
    "Without a hook's name: what a commit would be told now. git --install puts pre-commit and pre-push hooks\n"
    "into this repository; a hook of yours is left alone. git commit --no-verify goes past it.\n"
    "Taking the hooks out, weakening them, or pointing them to another program is for people (exit 3 in an agent).\n"
    "Exit codes: 0 nothing in the way, 2 no repository, 3 claimed by another or for people, 4 could not ask (--strict)."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("what", choices=["git"])
    parser.add_argument(
        "hook", nargs="?", choices=git.HOOKS, help="without one: what a commit would be told now"
    )
    parser.add_argument(
        "rest", nargs="*", metavar="ARG", default=[], help="what git gives its hooks; not used"
    )
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--install", action="store_true", help="put the hooks into this repository")
    change.add_argument("--uninstall", action="store_true", help="take them out again")
    parser.add_argument("--strict", action="store_true", help="refuse when the daemon cannot be asked")


def run(args: "VerbArguments") -> int:
    try:
        if args.install or args.uninstall:
            return _change(args)
        hook = args.hook or "pre-commit"
        intent = _intent(hook)
    except git.NoGit as error:
        raise WrongCall(f"headcount: {clean(error)}.") from error
    try:
        conflicts = ask(intent)
    except Exception as error:  # whatever is wrong with us, the commit is not ours to stop
        return _could_not_ask(error, strict=args.strict)
    if args.json:
        output.print_document({"conflicts": conflicts})
    elif conflicts:
        print("\n".join(lines_of(conflicts, hook)), file=sys.stderr)
    elif args.hook is None:  # somebody asked; git's hooks are silent when all is well
        print("Nothing in the way.")
    return exit_codes.REFUSED if conflicts else exit_codes.DONE


def _intent(hook: str) -> git.Intent:
    if hook == "pre-push":
        return git.of_push("" if sys.stdin.isatty() else sys.stdin.read())
    return git.of_commit()


def ask(intent: git.Intent) -> "list[Conflict]":
    """What of it others hold."""
    client = output.client(autostart=False)
    found: list[Conflict] = []
    for start in range(0, max(len(intent.paths), 1), PATHS_AT_ONCE):
        body = {
            "paths": [clean_path(path) for path in intent.paths[start : start + PATHS_AT_ONCE]],
            "items": intent.items if start == 0 else [],
        }
        answer: Conflicts = client.post("/v1/guard/git", body)
        found += answer["conflicts"]
    return found


def clean_path(path: str) -> str:
    """JSON has no bytes: what is no text in a path is replaced, and such a path can only be claimed by its tree."""
    return os.fsencode(path).decode("utf-8", "replace")


def lines_of(conflicts: "list[Conflict]", hook: str) -> list[str]:
    verb = "push" if hook == "pre-push" else "commit"
    lines = [f"headcount: this {verb} touches what another session has claimed."]
    for conflict in conflicts[:SHOWN_MOST]:
        who = holders.name_of(conflict.get("holder"))
        state = holders.state_of(conflict if conflict.get("liveness") else {})
        since, what = holders.since(conflict.get("since")), holders.what_for(conflict.get("note"))
        lines.append(f"  {said(conflict.get('item'), ITEM_MOST)}: {who}{since}{state}{what}")
        touches = [clean(each) for each in conflict.get("touches") or ()]
        lines += [f"    {path}" for path in touches[:SHOWN_MOST]]
    if len(conflicts) > SHOWN_MOST:
        lines.append(f"  and {len(conflicts) - SHOWN_MOST} more: headcount claims")
    lines.append(f"Wait for it: {holders.waiting(conflicts[0].get('item'), 'hold', '--', 'git', verb)}")
    return lines


def _could_not_ask(error: Exception, *, strict: bool) -> int:
    if isinstance(error, ClientFault):
        why, code = error.message, error.exit_code
    else:
        from headcount.cli.output import write_traceback

        why, code = f"{type(error).__name__}; the traceback is in {write_traceback(error)}", exit_codes.FAULT
    after = "Refused, since the guard is strict." if strict else "Going on without it."
    print(f"headcount: the guard could not ask: {clean(why)} {after}", file=sys.stderr)
    return code if strict else exit_codes.DONE


def _change(args: "VerbArguments") -> int:
    directory = Path(git.hooks_directory())
    if args.uninstall:
        refuse_agents("guard git --uninstall")
    elif git.weakens(directory, strict=args.strict):
        refuse_agents("weakening a guard that is installed, or pointing it to another program,")
    try:
        outcomes = git.install(directory, strict=args.strict) if args.install else git.uninstall(directory)
    except OSError as error:
        raise ClientFault(f"{directory} cannot be changed: {error.strerror}.") from error
    foreign = [hook for hook, outcome in outcomes.items() if outcome is git.GitHookChange.FOREIGN]
    if args.json:
        document = {hook: outcome.value for hook, outcome in outcomes.items()}
        output.print_document({"directory": str(directory), "hooks": document})
    else:
        output.print_lines([f"{hook:<11} {outcome.value}" for hook, outcome in outcomes.items()])
        if args.install and foreign:
            print(f"To guard with your own hook, add to it: headcount guard git {foreign[0]} || exit $?")
    return exit_codes.REFUSED if args.install and foreign else exit_codes.DONE
