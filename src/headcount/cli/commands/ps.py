"""`headcount ps`: list the running agents, those that need you first.

Not here: words (present/session_words.py), drawing (present/table.py).
"""

import os
import time
from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.client.daemon_access import DaemonAccess
    from headcount.client.faults import WrongCall
    from headcount.wire.views import HostRow, Sessions

NOTE = "A host that does not answer is unknown, with its last rows and why; the others are shown, and the exit code is 0."


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "where",
        nargs="?",
        metavar="DIR",
        help="only its repository (without one: the directory); `.` is here",
    )
    parser.add_argument("-a", "--all", action="store_true", help="ended sessions too")
    parser.add_argument("-w", "--wide", action="store_true", help="every column and row, uncut")
    parser.add_argument("--host", metavar="H,…", help="these hosts too, over ssh")
    parser.add_argument("--fleet", action="store_true", help="all hosts of the fleet that this one joined")


def run(args: "VerbArguments") -> int:
    if args.fleet and args.host is not None:
        raise _wrong("headcount: --fleet and --host are two lists; ask for one. See: headcount ps --help")
    if args.where and not os.path.isdir(args.where):  # noqa: PTH112
        raise _no_directory(args.where)
    client = output.client()
    answer = _asked(client, args)
    sessions = answer["sessions"]
    if args.where:
        from headcount.cli.actions import git

        # as it was written and with its links followed: an agent says either of its own directory
        here = {os.path.abspath(args.where), os.path.realpath(args.where)}  # noqa: PTH100
        sessions = [raw for raw in sessions if any(git.is_within(raw.get("cwd"), each) for each in here)]
    if args.json:
        output.print_document({**answer, "sessions": sessions})
        return exit_codes.DONE
    from headcount.present.screen import standard
    from headcount.present.session_words import rows_of
    from headcount.present.table import draw

    if answer.get("rebooted"):
        from headcount.cli.reboot_notice import tell_once

        tell_once(client)
    rows = rows_of(sessions, time.time())
    if not rows and answer["sessions"]:
        from headcount.present.table import NOBODY_THERE

        output.print_lines([NOBODY_THERE])
    elif args.wide:
        from headcount.present.table import wide_columns

        output.print_lines(draw(rows, standard(), everything=True, more=wide_columns(sessions)))
    else:
        output.print_lines(draw(rows, standard()))
    for host in answer.get("hosts") or ():
        if host.get("state") != "alive":
            output.note(_silent(host))
    return exit_codes.DONE


def _wrong(message: str) -> "WrongCall":
    from headcount.client.faults import WrongCall

    return WrongCall(message)


def _no_directory(where: str) -> "WrongCall":
    from headcount.clean_text import command, in_quotes
    from headcount.client.faults import WrongCall

    return WrongCall(
        f"headcount: no directory {in_quotes(where)}.", f"One session: {command('headcount', 'show', where)}"
    )


def _asked(client: "DaemonAccess", args: "VerbArguments") -> "Sessions":
    path = "/v1/fleet/sessions" if args.fleet else "/v1/sessions?all=1" if args.all else "/v1/sessions"
    here: Sessions = client.get(path)
    return here if args.host is None else _with_hosts(here, args.host, ended=args.all)


def _with_hosts(here: "Sessions", names: str, *, ended: bool) -> "Sessions":
    from headcount.cli.actions import remote_hosts

    hosts = remote_hosts.parse_hosts(names)
    known = [
        remote_hosts.LastAnswer(remote_hosts.HERE, here["sessions"], time.time(), None),
        *remote_hosts.ask_all(hosts, ended=ended),
    ]
    now = time.time()
    sessions = [row for each in known for row in each.marked(now)]
    return {**here, "sessions": sessions, "hosts": [each.summary(now) for each in known]}


def _silent(host: "HostRow") -> str:
    from headcount.present.time_text import span

    age = host.get("age_s")
    since = "nothing is known of it" if age is None else f"its rows are {span(float(age))} old"
    because = host.get("fault")
    return f"{host.get('name')} is unknown{f' ({because})' if because else ''}: {since}."
