"""The tree below a living agent: looked at when it does something, and only then; and never past another agent."""

import asyncio
from collections import Counter

import pytest

from headcount import times
from headcount.core.values.events import Event, EventType
from headcount.core.values.process import ProcessIdentity
from headcount.daemon.leftovers.descendants import Descendants
from headcount.daemon.leftovers.process_label import called
from headcount.system.clock import SystemClock
from tests.rig.core_values import Scene, bound, start
from tests.rig.kernel.fake_kernel import FakeKernel


class Stage:
    def __init__(self) -> None:
        self.kernel = FakeKernel()
        self.known: set[ProcessIdentity] = set()
        self.counts: Counter[str] = Counter()
        processes = self.kernel.processes(asyncio.get_running_loop())
        self.descendants = Descendants(
            processes, SystemClock(), lambda each: each if each in self.known else None, self.counts
        )
        self.descendants._uid = 1000
        self.agent = self.kernel.spawn("claude")

    def child(self, of: ProcessIdentity | None = None, comm: str = "node", **how) -> ProcessIdentity:
        return self.kernel.spawn(comm, parent=(of or self.agent).pid, **how)

    async def left(self) -> set[int]:
        await self.descendants.look(self.agent)
        return self.killed()

    def killed(self) -> set[int]:
        self.kernel.kill(self.agent.pid)
        return {find.process.pid for find in self.descendants.take(self.agent)}


@pytest.fixture
async def stage() -> Stage:
    return Stage()


async def test_children_and_theirs_are_seen(stage: Stage) -> None:
    shell = stage.child(comm="bash")
    vite = stage.child(shell)
    stage.kernel.spawn("node", parent=1)
    assert await stage.left() == {shell.pid, vite.pid}


async def test_one_that_was_re_parented_is_still_its_descendant(stage: Stage) -> None:
    shell = stage.child(comm="bash")
    vite = stage.child(shell)
    await stage.descendants.look(stage.agent)
    stage.kernel.kill(shell.pid)  # vite is nobody's child from here on
    assert await stage.left() == {vite.pid}


async def test_an_agent_below_it_is_not_passed(stage: Stage) -> None:
    shell = stage.child(comm="bash")
    inner = stage.child(shell, comm="claude", exe="/usr/bin/claude")
    stage.child(inner)
    known = stage.child(shell, comm="codex")
    stage.known.add(known)
    stage.child(known)
    helper = stage.child(comm="claude", argv=("claude", "daemon", "run"))
    stage.child(helper)
    vite = stage.child()
    assert await stage.left() == {vite.pid}, "nor is the shell that living agents run below"


async def test_a_shell_is_a_leftover_once_the_agent_below_it_is_over(stage: Stage) -> None:
    shell = stage.child(comm="bash")
    inner = stage.child(shell, comm="claude", exe="/usr/bin/claude")
    await stage.descendants.look(stage.agent)
    stage.kernel.kill(inner.pid)
    assert stage.killed() == {shell.pid}


async def test_a_terminal_server_and_what_runs_in_it_are_nobodys(stage: Stage) -> None:
    server = stage.child(comm="tmux: server")
    shell = stage.child(server, comm="bash")
    stage.child(shell)
    vite = stage.child()
    assert await stage.descendants.below(server) == ()
    assert await stage.descendants.below(shell) == ()
    assert await stage.left() == {vite.pid}


async def test_another_users_child_is_not_ours_to_list(stage: Stage) -> None:
    stage.child(uid=0)
    assert await stage.left() == set()


async def test_a_reused_number_is_not_the_child_that_was_seen(stage: Stage) -> None:
    vite = stage.child()
    await stage.descendants.look(stage.agent)
    stage.kernel.reuse(vite.pid, same_ticks=True)
    assert stage.killed() == set()


async def test_a_hundred_events_are_one_look_and_none_are_none(stage: Stage) -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(stage.agent)))
    (session,) = scene.sessions()
    assert stage.descendants._due == {}, "no timer of its own"
    heard = [Event(n, 1.0, EventType.SESSION_HEARD, session.id) for n in range(100)]
    stage.descendants.noticed(heard, scene.world)
    assert list(stage.descendants._due) == [stage.agent]
    async with asyncio.timeout(10):
        while not stage.counts["descendant_looks"]:
            await asyncio.sleep(times.DESCENDANTS_AFTER / 10)
    assert stage.counts["descendant_looks"] == 1 and stage.descendants._due == {}


async def test_agents_that_are_due_together_are_looked_at_in_one_go(stage: Stage) -> None:
    """A crowd that reports at once would else be a timer and a thread for each of them."""
    agents = [stage.kernel.spawn("claude") for _ in range(20)]
    gone_before = agents.pop()
    shells = {agent: stage.child(agent, comm="bash") for agent in agents}
    goes: list[int] = []
    below_all = stage.descendants._below_all

    def counted(known):
        goes.append(len(known))
        return below_all(known)

    stage.descendants._below_all = counted
    for agent in [*agents, gone_before]:
        stage.descendants.want(agent)
    stage.descendants.take(gone_before)
    async with asyncio.timeout(10):
        while stage.counts["descendant_looks"] < len(agents):
            await asyncio.sleep(times.DESCENDANTS_AFTER / 10)
    assert goes == [len(agents)], "the one that died meanwhile is not looked at"
    for agent in agents:
        stage.kernel.kill(agent.pid)
        assert [find.process for find in stage.descendants.take(agent)] == [shells[agent]]


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("node", "/src/web/node_modules/.bin/vite", "--port", "5173"), "node vite"),
        (("/usr/bin/python3.11", "-m", "http.server", "8000"), "python3.11 http.server"),
        (("bash", "-c", "curl -H 'Authorization: Bearer sk-secret'"), "bash curl"),
        (("bash", "-c", "cd web && API_KEY=sk-secret npm run dev"), "bash npm run dev"),
        (
            ("bash", "-c", "source /x/snap.sh || true && eval 'sleep 300 && echo hunter2' </dev/null"),
            "bash sleep",
        ),
        (("bash", "-c", "while :; do sleep 1; done"), "bash sleep"),
        (("bash", "-c", "it's"), "bash"),
        (("npm", "run", "dev", "--token", "x"), "npm run dev"),
        (("make", "/src/secret"), "make"),
        (("-bash",), "bash"),
        (("psql", "postgres://me:secret@host/db"), "psql"),
        (("node", "--require", "/x/preload.js"), "node preload.js"),
        (("python3", "my secret plan.py"), "python3 my"),
        (("npm run dev",), "npm"),
        ((), "comm"),
    ],
)
def test_a_process_is_called_by_program_and_script_and_no_argument(argv: tuple[str, ...], name: str) -> None:
    from headcount.core.values.process import ProcessFacts
    from tests.rig.core_values import process

    assert called(ProcessFacts(process(7), 1, 1000, "comm", argv, None)) == name
