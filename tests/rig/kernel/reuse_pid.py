"""Run as the first process of a pid namespace: gives one pid to process after process and judges each.

Rules of this file
  1. Every round remembers an incarnation, ends it, gives its pid to another, and asks for the first.
  2. Beside our verdict stand the naive ones: the pid exists; the pid exists with the same start tick.
  3. It prints one JSON object and nothing else. The test that started it judges.
"""

import asyncio
import json
import os
import sys

from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.verdict import Standing, Verdict
from headcount.system.processes.interface import Processes
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.pidfds.kernel_features import Features
from headcount.system.processes.portable import PortableProcesses

PID = 700
MOST = 5_000  # on a loaded machine few reuses fall within one tick: it goes on until one did


def fork_at(pid: int) -> int:
    """A child with exactly that pid, which waits until it is ended."""
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(pid - 1))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    assert child == pid, (child, pid)
    os.close(read)
    return write


def end(pid: int, pipe: int) -> None:
    os.close(pipe)
    os.waitpid(pid, 0)


def identity_of(processes: Processes, pid: int) -> ProcessIdentity:
    seen = processes.look(pid)
    assert isinstance(seen, ProcessFacts), seen
    return seen.identity


async def main(adapter: str, rounds: int) -> dict[str, object]:
    loop = asyncio.get_running_loop()

    def make() -> Processes:
        if adapter == "portable":
            return PortableProcesses(loop)
        return LinuxProcesses(loop, Features.from_text(adapter))

    told: list[tuple[ProcessIdentity, Verdict]] = []
    figures = dict.fromkeys(("rounds", "same_tick", "called_alive", "called_alive_at_watch", "pid_fooled"), 0)
    proofs: dict[str, int] = {}
    while figures["rounds"] < rounds or (not figures["same_tick"] and figures["rounds"] < MOST):
        pipe = fork_at(PID)
        before = make()
        old = identity_of(before, PID)
        before.watch(old, lambda who, verdict: told.append((who, verdict)))
        before.close()  # as a daemon that was restarted: it did not see the end
        end(PID, pipe)
        pipe = fork_at(PID)
        after = make()
        verdict = after.prove(old, after.place().machine)
        figures["rounds"] += 1
        figures["pid_fooled"] += os.path.exists(f"/proc/{PID}")
        figures["same_tick"] += identity_of(after, PID).started == old.started
        figures["called_alive"] += verdict.standing is Standing.ALIVE
        watched = after.watch(old, lambda who, verdict: told.append((who, verdict)))
        figures["called_alive_at_watch"] += watched.standing is Standing.ALIVE
        proofs[str(verdict.proof)] = proofs.get(str(verdict.proof), 0) + 1
        assert after.prove(identity_of(after, PID), "").standing is Standing.ALIVE
        after.close()
        end(PID, pipe)
    return {**figures, "proofs": proofs, "told": len(told)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2])))))
