"""Forks: a copy of a process is another process. Real forks, a real daemon; the naive client fails the same scene."""

from pathlib import Path

import pytest

from tests.rig.claims.forked_clients import played
from tests.rig.daemon.real_daemon import Daemon

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="callers are known by Linux's /proc"
)

CHILD_CLAIMS = """
def child():
    claim = client.claim("task:A", own=True)
    say(claim.granted, claim.holder.pid == os.getpid())
    say([each.holder.pid == os.getppid() for each in client.claims()])
os.waitpid(in_child(child), 0)
"""
THEN_NOBODY = """
say(eventually(lambda: not client.claims()))
"""


def test_a_forked_copy_asks_for_itself_and_its_claim_ends_with_it(daemon: Daemon) -> None:
    assert played(daemon, CHILD_CLAIMS + THEN_NOBODY) == [[True, True], [[False]], [True]]


def test_control_without_it_the_parent_is_taken_for_the_holder(daemon: Daemon) -> None:
    assert played(daemon, CHILD_CLAIMS, naive=True) == [[True, False], [[True]]]


POOL = """
def begin(barrier):
    global asked
    asked = barrier

def work(number):
    claim = client.claim("task:ONE", own=True)
    asked.wait(20)  # nobody ends before all have asked
    with claim:
        return claim.holder.pid == os.getpid()

context = multiprocessing.get_context("fork")
with context.Pool(4, begin, (context.Barrier(4),)) as pool:
    asked = [pool.apply_async(work, (number,)) for number in range(4)]
    for each in asked:
        try:
            say("inside", each.get(30))
        except ClientFault as fault:
            say(type(fault).__name__, fault.code, fault.claim.holder.pid is not None)
"""


def test_of_a_pool_of_forked_workers_one_is_inside_and_the_others_hear_who(daemon: Daemon) -> None:
    """Their refusals also arrive in the process that asked the pool."""
    said = played(daemon, POOL)
    assert sorted(said) == [["HeldByAnother", "held", True]] * 3 + [["inside", True]]


MIXED = """
def child(name):
    wrong = 0
    for number in range(50):
        item = f"task:{name}-{number}"
        claim = client.claim(item, own=True)
        wrong += claim.item != item or not claim.granted
        claim.release()
    say(wrong)
children = [in_child(lambda: child(name)) for name in "abcd"]
for pid in children:
    os.waitpid(pid, 0)
say("none left", eventually(lambda: not client.claims()))
"""


def test_answers_go_to_the_copy_that_asked(daemon: Daemon) -> None:
    assert played(daemon, MIXED) == [[0], [0], [0], [0], ["none left", True]]


LEAVING = """
with client.claim("task:A", own=True) as claim:
    if os.fork() == 0:
        signal.alarm(20)
        sys.exit(0)  # unwinds the block
    os.wait()
    say(claim.is_current(), [each.item for each in client.claims()])
say([each.item for each in client.claims()])
"""


def test_a_copy_that_leaves_its_parents_block_releases_nothing(daemon: Daemon) -> None:
    assert played(daemon, LEAVING) == [[True, ["task:A"]], [[]]]


def test_control_without_it_the_copy_releases_its_parents_claim(daemon: Daemon) -> None:
    assert played(daemon, LEAVING, naive=True)[0] == [False, []]


TOLD = """
def child():
    say("current", claim.is_current())
    for call in (claim.release, claim.__enter__):
        try:
            call()
        except WrongCall as wrong:
            say(str(claim.asked_by) in wrong.message, str(os.getpid()) in wrong.message, wrong.hint is not None)
    client.close()
with client.claim("task:A", own=True) as claim:
    os.waitpid(in_child(child), 0)
    say("still", claim.is_current())
"""


def test_a_copy_is_told_that_it_is_not_the_holder(daemon: Daemon) -> None:
    assert played(daemon, TOLD) == [
        ["current", True],
        [True, True, True],
        [True, True, True],
        ["still", True],
    ]


BELOW = """
def child():
    claim = client.claim("task:A", own=True)
    with claim:
        say(claim.code, claim.holder.pid == os.getppid())
with client.claim("task:A", own=True) as claim:
    os.waitpid(in_child(child), 0)
    say("still", claim.is_current())
"""


def test_a_copy_that_asks_for_what_its_parent_holds_works_under_it_and_gives_nothing_back(
    daemon: Daemon,
) -> None:
    assert played(daemon, BELOW) == [["under", True], ["still", True]]


BUSY = """
def child():
    say("child", [each.item for each in client.claims()])
def wait():
    client.claim("task:A", own=True, wait=20)
other = headcount.Client(autostart=False)
def holder():
    other.claim("task:A", own=True)
    say("held")
    time.sleep(20)
holding = in_child(holder)
eventually(other.claims)
waiting = threading.Thread(target=wait, daemon=True)
waiting.start()
eventually(lambda: other.claims()[0].raw["waiting"])
os.waitpid(in_child(child), 0)  # while a thread is in the middle of a call on the same client
say("parent", other.claims()[0].raw["waiting"])
os.kill(holding, signal.SIGKILL)
waiting.join(20)
say("granted", [each.holder.pid == os.getpid() for each in other.claims()])
"""


def test_a_copy_made_while_a_thread_was_in_a_call_can_ask_and_the_thread_gets_its_answer(
    daemon: Daemon,
) -> None:
    said = played(daemon, BUSY)
    assert said == [["held"], ["child", ["task:A"]], ["parent", 1], ["granted", [True]]]


LEAVES_THE_LINE = """
other = headcount.Client(autostart=False)
def holder():
    other.claim("task:A", own=True)
    time.sleep(20)
holding = in_child(holder)
eventually(other.claims)
copy = in_child(lambda: time.sleep(20))  # has the descriptor of the connection, and does nothing with it
class Enough(Exception):
    pass
def enough(*_):
    raise Enough
def interrupt():
    eventually(lambda: other.claims()[0].raw["waiting"])
    signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
signal.signal(signal.SIGUSR1, enough)
threading.Thread(target=interrupt).start()
try:
    client.claim("task:A", own=True, wait=60)
except Enough:
    say("enough")
say("left", eventually(lambda: not client.claims()[0].raw["waiting"]))
for pid in (holding, copy):
    os.kill(pid, signal.SIGKILL)
"""


def test_whoever_stops_waiting_leaves_the_line_though_a_copy_has_the_descriptor(daemon: Daemon) -> None:
    """And the next answer on that client is the one to the next question."""
    assert played(daemon, LEAVES_THE_LINE) == [["enough"], ["left", True]]
