"""`headcount status`: how the daemon is. It does not start one.

Not here: what is wrong and what to do (doctor.py).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.client.daemon_process import deaf_holder
from headcount.client.faults import NotRunning, Unavailable
from headcount.daemon.home.store_marks import why_lost
from headcount.paths import Places
from headcount.present import time_text
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import Status, StoreFacts


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    del parser  # nothing but --json


def run(args: "VerbArguments") -> int:
    client = output.client(autostart=False)
    try:
        status: Status = client.get("/v1/status")
    except NotRunning as fault:
        raise _why_away(client.places, fault) from None
    status["pid"] = (
        client.daemon_pid or status["pid"]
    )  # as seen from here: it may run in another pid namespace
    if args.json:
        output.print_document(status)
    else:
        output.print_lines(lines_of(status))
    return exit_codes.DONE


def _why_away(places: Places, fault: NotRunning) -> Unavailable:
    lost = why_lost(places)
    if lost is None:
        return deaf_holder(places) or fault
    return Unavailable(
        f"No headcount daemon is running, and its store was lost ({lost}). Nothing is granted until you accept that.",
        "headcount up, then: headcount claims --accept-loss",
    )


def lines_of(status: "Status") -> list[str]:
    polled = status.get("polled") or 0
    counts = ", ".join(
        f"{count} {clean(word)}" for word, count in (status.get("counts") or {}).items() if count
    )
    lines = [
        f"headcount {clean(status.get('version'))}, pid {clean(status.get('pid'))}, "
        f"up {time_text.exact_span(float(status.get('uptime_s') or 0))}",
        f"  sessions   {status.get('sessions')}{f' ({counts})' if counts else ''}",
        f"  processes  {clean(status.get('processes'))}: {status.get('watched')} watched"
        + (f", {polled} of them by polling" if polled else ""),
        f"  socket     {clean(status.get('socket'))}",
        f"  mailbox    {clean(status.get('mailbox'))}",
        f"  store      {_store(status.get('store') or {})}",
    ]
    if status.get("url"):
        lines.insert(-1, f"  page       {clean(status['url'])}")
    lines += [f"  ! {clean(warning)}" for warning in status.get("warnings") or ()]
    return lines


def _store(store: "StoreFacts") -> str:
    megabytes = (store.get("bytes") or 0) / 1e6
    return f"{clean(store.get('path')) or '-'}, {megabytes:.1f} MB"
