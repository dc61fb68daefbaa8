"""Findings: what `doctor` concludes from what it saw, each with a next step.

Rules
  1. Pure: facts in, findings out. What could not be seen is a note, never a finding.
  2. `finding` is something to do, `note` something to know, `ok` neither. A finding names the next step.
  3. One check, one function, in the order in which they are read.

Not here: looking (facts.py), printing (commands/doctor.py).
"""

from typing import NamedTuple

from headcount import __version__, build_and_namespaces, times
from headcount.clean_text import command
from headcount.cli.doctor.facts import Facts, FileFacts, HookFacts
from headcount.client.daemon_access import order
from headcount.client.faults import Deaf
from headcount.present import time_text

FREE_LEAST = 100 * 1024 * 1024  # bytes; a store that meets a full disk has to hold its evidence in memory
WAITING_MOST = 500  # files; a daemon that listens reads as many in a tenth of a second
DESCRIPTORS_SPARE = 64


class Finding(NamedTuple):
    check: str
    level: str  # ok, note, finding
    says: str
    next: str | None = None


def todo(check: str, says: str, next: str | None = None) -> Finding:
    return Finding(check, "finding", says, next)


def findings_of(facts: Facts) -> list[Finding]:
    always = [
        _daemon(facts),
        _socket(facts),
        _directory(facts),
        _mailbox(facts),
        _flag(facts),
        _disk(facts),
        _log(facts),
        *(_hooks(each) for each in facts.hooks),
    ]
    if not facts.status:
        return [*always, *_lost(facts)]
    return [
        *always,
        _version(facts),
        _store(facts),
        _watching(facts),
        _files(facts),
        _descriptors(facts),
        _strangers(facts),
        *_warnings(facts),
    ]


def _lost(facts: Facts) -> list[Finding]:
    if facts.lost is None:
        return []
    says = (
        f"{facts.places.database} is not the one that was served ({facts.lost}): who holds what is not known"
    )
    return [todo("store", says, "headcount up, then: headcount claims --accept-loss")]


def _daemon(facts: Facts) -> Finding:
    if not facts.running and facts.holder is not None:
        return todo(
            "daemon",
            f"pid {facts.holder} has the home and does not listen on {facts.places.socket}",
            f"if this stays, end it: {command('kill', str(facts.holder))}; see {facts.places.log}",
        )
    if not facts.running:
        return Finding("daemon", "note", "not running; it starts on first use", "headcount up")
    if isinstance(facts.fault, Deaf):
        return todo(
            "daemon",
            f"listens but did not answer within {times.CALL_WITHIN:.0f} s",
            f"its watchdog ends it within {times.WATCHDOG_EVERY * times.WATCHDOG_STRIKES:.0f} s; "
            f"if this stays, end it by hand and see {facts.places.log}",
        )
    if facts.fault is not None:
        return todo("daemon", facts.fault.message, f"see {facts.places.log}")
    if not facts.status:
        return todo(
            "daemon", "whoever answers on the socket is not headcount", f"look at {facts.places.socket}"
        )
    if build_and_namespaces.is_enclosed(facts.origin, facts.pid or 0):
        return todo(
            "daemon",
            f"pid {facts.pid} runs in a sandbox or container and does not see the agents out here",
            "headcount up replaces it",
        )
    if facts.took > times.SLOW_ANSWER:
        return todo(
            "daemon", f"answers slowly: {facts.took * 1000:.0f} ms", "look at the machine's load and the log"
        )
    return Finding("daemon", "ok", f"pid {facts.pid} answered in {facts.took * 1000:.0f} ms")


def _version(facts: Facts) -> Finding:
    theirs = facts.version or str(facts.status.get("version"))
    if facts.origin is not None and facts.origin.installation != build_and_namespaces.installation():
        return todo(
            "version",
            f"the daemon is {theirs} of another installation (see: which -a headcount)",
            "to run this one: headcount down, then headcount up",
        )
    if (
        theirs == __version__
        and facts.origin is not None
        and facts.origin.build != build_and_namespaces.installed()
    ):
        return todo(
            "version", f"{theirs}, but of another build than is installed", "headcount up restarts it"
        )
    if theirs == __version__:
        return Finding("version", "ok", theirs)
    if order(theirs) < order(__version__):
        return todo(
            "version", f"the daemon is {theirs}, this command {__version__}", "headcount ps restarts it"
        )
    return todo(
        "version",
        f"the daemon is {theirs}, newer than this command ({__version__})",
        "use the newer headcount; see: which -a headcount",
    )


def _socket(facts: Facts) -> Finding:
    seen, path = facts.socket, facts.places.socket
    if seen is None:
        if facts.running:
            return todo(
                "socket", "somebody listens, but its file is gone", "headcount down, then headcount up"
            )
        if facts.holder is not None:
            return todo("socket", "it is missing", "wait a moment: the daemon makes it again")
        return Finding("socket", "ok", "none, as no daemon runs")
    if not facts.running:
        return Finding(
            "socket", "note", "its file was left by a daemon that is gone", "headcount up replaces it"
        )
    if seen.kind != "socket" or not seen.ours or seen.mode & 0o077:
        return todo("socket", f"others can get at it: {_mode(seen)}", command("chmod", "600", str(path)))
    return Finding("socket", "ok", f"private ({_mode(seen)})")


def _directory(facts: Facts) -> Finding:
    seen, path = facts.state, facts.places.state
    if facts.locked is not None:
        return todo(
            "directory",
            f"{path} cannot be used: {facts.locked} is not yours to write",
            "set HEADCOUNT_HOME to a directory that you can write",
        )
    if seen is None:
        return Finding("directory", "note", f"{path} is not there yet; the first start makes it")
    if seen.kind != "directory" or not seen.ours or seen.mode & 0o077:
        return todo(
            "directory", f"others can get at {path}: {_mode(seen)}", command("chmod", "700", str(path))
        )
    return Finding("directory", "ok", f"{path} is private")


def _mailbox(facts: Facts) -> Finding:
    seen, path = facts.mailbox, facts.places.mailbox
    if seen is None and facts.running:
        return todo("mailbox", f"{path} is not there", "headcount down, then headcount up")
    if seen is None:
        return Finding("mailbox", "note", f"{path} is not there yet; the first start makes it")
    if seen.kind != "directory" or not seen.ours or seen.mode & 0o777 != 0o700:
        return todo(
            "mailbox",
            f"hooks may not write there, or others may: {_mode(seen)}",
            command("chmod", "700", str(path)),
        )
    if facts.waiting is None:
        return Finding("mailbox", "note", "could not be listed")
    if not facts.waiting:
        return Finding("mailbox", "ok", "empty")
    age = time_text.span(facts.oldest or 0)
    says = f"{facts.waiting} reports wait, the oldest for {age}"
    if not facts.running:
        return Finding("mailbox", "note", says, "headcount up reads them")
    if facts.waiting > WAITING_MOST or (facts.oldest or 0) > times.WATCHDOG_EVERY:
        return todo("mailbox", f"backed up: {says}", f"see {facts.places.log}; is the disk full?")
    return Finding("mailbox", "ok", says)


def _flag(facts: Facts) -> Finding:
    if facts.flag and not facts.running:
        return todo(
            "flag",
            "left by a daemon that was killed: per-tool reports pile up in the mailbox",
            "headcount up (it reads them), or: rm " + facts.places.flag,
        )
    if facts.running and facts.status and not facts.flag:
        return todo(
            "flag", "is missing: hooks do not drop per-tool reports", "headcount down, then headcount up"
        )
    return Finding("flag", "ok", "tells hooks rightly whether a daemon listens")


def _disk(facts: Facts) -> Finding:
    if facts.free is None:
        return Finding("disk", "note", "free space could not be seen")
    says = f"{facts.free // (1024 * 1024)} MB free"
    if facts.free < FREE_LEAST:
        return todo(
            "disk",
            f"only {says} at {facts.places.state}",
            "make room; nothing is acknowledged that is not on disk",
        )
    return Finding("disk", "ok", says)


def _log(facts: Facts) -> Finding:
    if not facts.errors:
        return Finding("log", "ok", "no errors in its tail")
    return Finding(
        "log",
        "note",
        f"{len(facts.errors)} error lines in its tail, the last: {facts.errors[-1]}",
        f"see {facts.places.log}",
    )


def _hooks(file: HookFacts) -> Finding:
    if file.state == "unreadable":
        return todo(
            "hooks",
            f"{file.settings} cannot be used: {file.note}",
            "mend that file; until then its agent may not read it either, and we write nothing to it",
        )
    if file.inactive:
        why, _, way = file.inactive.partition(": ")
        return Finding("hooks", "note", f"{file.label}: installed, {why}", way or "headcount hooks status")
    if file.note:
        return Finding("hooks", "note", f"{file.settings}: {file.note}")
    if file.state == "installed":
        return Finding("hooks", "ok", f"installed in {file.settings}")
    words = {"absent": "not installed", "partial": "not installed for every event"}
    said = words.get(file.state, "of an earlier version, or of another home of headcount")
    return Finding("hooks", "note", f"{said}: {file.settings}", "headcount hooks install")


def _store(facts: Facts) -> Finding:
    store = facts.status.get("store") or {}
    trouble = store.get("trouble") or store.get("error") or store.get("fault")
    if trouble:
        return todo("store", str(trouble), "make room or repair the disk; the daemon tries again by itself")
    aside = store.get("set_aside")
    if aside:
        return todo(
            "store", f"a damaged store was set aside as {aside}", "keep the file for a report, then remove it"
        )
    return Finding("store", "ok", "takes commits")


def _watching(facts: Facts) -> Finding:
    watched, polled = facts.status.get("watched") or 0, facts.status.get("polled") or 0
    adapter = facts.status.get("processes")
    if adapter != "linux":
        return Finding(
            "watching",
            "note",
            f"{watched} processes by the {adapter} adapter: deaths are told within about a second, not at once",
        )
    looked_at = f"{polled} of {watched} processes are looked at every second"
    if polled and any("few descriptors" in each for each in facts.status.get("warnings") or ()):
        raised = f"prlimit --nofile=65536 --pid {facts.status.get('pid')} (as root beyond its hard limit)"
        return todo(
            "watching",
            f"{looked_at}: few descriptors are left",
            f"raise its limit of open files: {raised}. They return by themselves",
        )
    if polled:
        return todo("watching", looked_at, "See why: headcount explain ID")
    return Finding("watching", "ok", f"{watched} processes by kernel events")


def _files(facts: Facts) -> Finding:
    looked_at = facts.status.get("polled_directories") or 0
    if not looked_at:
        return Finding("files", "ok", "reports and registries by kernel events")
    if facts.status.get("processes") != "linux":
        return Finding("files", "note", "reports and registries are looked at once a second")
    return todo(
        "files",
        f"{looked_at} directories are looked at once a second: no inotify watch was left for them",
        "raise the limit (sysctl fs.inotify.max_user_watches), then headcount down and up",
    )


def _descriptors(facts: Facts) -> Finding:
    if facts.descriptors is None:
        return Finding("open files", "note", "could not be seen")
    used, allowed = facts.descriptors
    if allowed - used < DESCRIPTORS_SPARE:
        return Finding(
            "open files",
            "finding",
            f"{used} of {allowed} are used",
            "raise the hard limit of open files (ulimit -Hn), then headcount down and up",
        )
    return Finding("open files", "ok", f"{used} of {allowed}")


def _strangers(facts: Facts) -> Finding:
    unknown = facts.status.get("unknown_events") or {}
    if not unknown:
        return Finding("events", "ok", "all known")
    listed = ", ".join(f"{name} ({count})" for name, count in unknown.items())
    return Finding(
        "events",
        "note",
        f"not known to this version, and harmless: {listed}",
        "a newer headcount may know them",
    )


def _warnings(facts: Facts) -> list[Finding]:
    return [
        todo("warning", str(warning), _next_of_warning(str(warning), facts))
        for warning in facts.status.get("warnings") or ()
    ]


def _next_of_warning(warning: str, facts: Facts) -> str:
    if "settings were changed" in warning:
        return f"see {facts.places.config}"
    return "headcount fleet status" if "the fleet" in warning else f"see {facts.places.log}"


def _mode(seen: FileFacts) -> str:
    return f"{seen.kind}, mode {seen.mode:04o}{'' if seen.ours else ', owned by somebody else'}"
