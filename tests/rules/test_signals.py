"""No signal but through a handle, no process found by its text, no shell (G5).

Rules of this file
  1. A pid is never signalled. Two files may signal: system/send_signal.py, through a pidfd, and the two places
     that end children of their own, whose pid cannot be given away before they reap it. A thread of the command may
     wake its own main thread.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.rules.source import called, dotted, modules, short, tree

FORBIDDEN = frozenset({
    "os.kill", "os.killpg", "os.system", "os.popen", "signal.pthread_kill",
    "subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell",
})  # fmt: skip
TEXT_MATCHERS = ("pkill", "pgrep", "killall")
OWN_CHILDREN = frozenset({
    "src/headcount/agents/installing/hook_line_mailbox.py",  # a trial of the hook line that does not end
    "src/headcount/agents/installing/hook_line_asks_daemon.py",  # the same of the lines that ask
    "src/headcount/cli/actions/demo_sandbox.py",  # the demo's cast
    "src/headcount/cli/actions/claim_keeper.py",  # the command of `hold`, when its claim is lost
    "src/headcount/cli/actions/remote_hosts.py",  # ssh to other hosts, when watching them ends
    "src/headcount/cli/commands/hold.py",  # the same, when hold itself is told to end
})  # fmt: skip
OWN_THREAD = frozenset({"src/headcount/cli/output.py"})  # a stream whose reader is gone
THROUGH_A_HANDLE = frozenset(
    {"src/headcount/system/send_signal.py", "src/headcount/cli/actions/demo_sandbox.py"}
)


def offences(source: ast.AST, where: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(source):
        if where in OWN_THREAD and isinstance(node, ast.Attribute) and dotted(node) == "signal.pthread_kill":
            continue
        if isinstance(node, ast.Attribute) and dotted(node) in FORBIDDEN:
            yield node.lineno, dotted(node)
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{each.name}" for each in node.names}
            yield from ((node.lineno, name) for name in sorted(names & FORBIDDEN))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value.split()
            yield from ((node.lineno, f"the word {word}") for word in TEXT_MATCHERS if word in words)
        elif isinstance(node, ast.Call):
            yield from ((node.lineno, what) for what in _of_call(node, where))


def _of_call(node: ast.Call, where: str) -> Iterator[str]:
    if any(each.arg == "shell" and not _is_false(each.value) for each in node.keywords):
        yield "shell="
    if called(node) == "pidfd_send_signal" and where not in THROUGH_A_HANDLE:
        yield "pidfd_send_signal"
    by_object = isinstance(node.func, ast.Attribute) and node.func.attr in (
        "kill",
        "terminate",
        "send_signal",
    )
    if by_object and where not in OWN_CHILDREN:
        yield dotted(node.func)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_nothing_is_signalled_but_through_a_handle() -> None:
    found = [
        f"{short(path)}:{line}: {what}"
        for path in modules()
        for line, what in offences(tree(path), short(path))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "os.kill(pid, signal.SIGTERM)",
        "os.killpg(group, 9)",
        "from os import kill",
        "subprocess.run(['pkill', '-f', name])",
        "run('pgrep -f claude')",
        "subprocess.run(line, shell=True)",
        "os.system(line)",
        "psutil.Process(pid).terminate()",
        "signal.pidfd_send_signal(fd, 9)",
    ],
)
def test_the_ways_in_which_other_tools_killed_are_all_seen(text: str) -> None:
    assert list(offences(ast.parse(text), "src/headcount/daemon/somewhere.py")) != []
