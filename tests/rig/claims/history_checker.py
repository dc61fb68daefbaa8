"""Is a history of claims one that a single ledger could have given? (Wing and Gong, with Lowe's memory.)

Rules of this file
  1. An operation took effect at one moment between its call and its answer. A history is right if there
     is an order of such moments in which each answer is the one that one plain ledger gives.
  2. Items never touch each other, so each item is checked by itself.
  3. An operation without an answer took effect at some moment after its call, or never.
  4. A death is an operation without a caller: from then on the process holds nothing and is granted nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf


class Does(Enum):
    ACQUIRE = "acquire"
    RELEASE = "release"
    CHECK = "check"
    DIE = "die"


class Says(Enum):
    GRANTED = "granted"
    HELD = "held"
    RELEASED = "released"
    GONE = "gone"  # of a release: it was over before
    CURRENT = "current"
    STALE = "stale"
    NOTHING = "nothing"  # no answer came


@dataclass(frozen=True, slots=True)
class Operation:
    process: str
    does: Does
    item: str
    called: float
    answered: float = inf
    says: Says = Says.NOTHING
    fence: int | None = None  # granted, released or checked
    holder: str | None = None  # of a refusal: who was named
    retried: bool = False  # asked more than once, so an effect may be of an earlier call


@dataclass(frozen=True, slots=True)
class Plain:
    """A ledger of one item, too plain to be wrong."""

    holder: str | None = None
    fence: int | None = None  # None while held: granted, but no caller received the fence
    floor: int = 0
    dead: frozenset[str] = field(default_factory=frozenset)

    def after(self, op: Operation) -> "list[Plain]":
        """The states that this operation with this answer can lead to; none: it cannot have happened now."""
        return {
            Does.ACQUIRE: self._acquire,
            Does.RELEASE: self._release,
            Does.CHECK: self._check,
            Does.DIE: self._die,
        }[op.does](op)

    def _acquire(self, op: Operation) -> "list[Plain]":
        if op.says is Says.HELD:
            names = op.holder is None or op.holder == self.holder
            return [self] if self.holder not in (None, op.process) and names else []
        if op.says is Says.NOTHING:
            can = self.holder is None and op.process not in self.dead
            return ([replace(self, holder=op.process, fence=None)] if can else []) + [self]
        assert op.says is Says.GRANTED and op.fence is not None
        if op.process in self.dead:
            return []
        if self.holder is None:
            grown = replace(self, holder=op.process, fence=op.fence, floor=op.fence)
            return [grown] if op.fence > self.floor else []
        return self._known(op) if self.holder == op.process else []

    def _known(self, op: Operation) -> "list[Plain]":
        """That number is the holder's: known already, or learned by this."""
        assert op.fence is not None
        if self.fence is None and self.holder is not None and op.fence > self.floor:
            return [replace(self, fence=op.fence, floor=op.fence)]
        return [self] if self.fence == op.fence else []

    def _release(self, op: Operation) -> "list[Plain]":
        mine = self.holder == op.process and self.fence in (None, op.fence)
        freed = replace(self, holder=None, fence=None)
        if op.says is Says.RELEASED and not op.retried:
            return [freed] if mine else []
        if op.says is Says.GONE and not op.retried:
            return [] if mine else [self]
        return ([freed] if mine else []) + [self]

    def _check(self, op: Operation) -> "list[Plain]":
        if op.says is Says.CURRENT:
            return self._known(op)
        if op.says is Says.STALE:
            return [] if self.holder is not None and self.fence == op.fence else [self]
        return [self]

    def _die(self, op: Operation) -> "list[Plain]":
        dead = self.dead | {op.process}
        if self.holder == op.process:
            return [replace(self, holder=None, fence=None, dead=dead)]
        return [replace(self, dead=dead)]


def broken_items(history: Iterable[Operation]) -> list[str]:
    """Items whose history no single ledger could have given. Deaths belong to every item."""
    by_item: dict[str, list[Operation]] = defaultdict(list)
    deaths = []
    for op in history:
        if op.does is Does.DIE:
            deaths.append(op)
        else:
            by_item[op.item].append(op)
    return sorted(item for item, ops in by_item.items() if not is_linearizable(ops + _met(deaths, ops)))


def _met(deaths: list[Operation], ops: list[Operation]) -> list[Operation]:
    """The deaths of those who had to do with it: the others change nothing."""
    names = {op.process for op in ops} | {op.holder for op in ops}
    return [death for death in deaths if death.process in names]


class _Node:
    __slots__ = ("after", "before", "bit", "match", "op")

    def __init__(self, op: Operation | None, bit: int = 0) -> None:
        self.op = op  # None: the answer of its match
        self.bit = bit
        self.match: _Node | None = None
        self.before: _Node | None = None
        self.after: _Node | None = None


def is_linearizable(ops: list[Operation], start: Plain = Plain()) -> bool:
    head = _line(ops)
    tried: set[tuple[int, Plain]] = set()
    done, state = 0, start
    steps: list[tuple[_Node, int, Plain, list[Plain]]] = []  # taken, and what else it could have led to
    node = head.after
    while head.after is not None:
        if node is not None and node.op is not None:
            nexts = [each for each in state.after(node.op) if (done | node.bit, each) not in tried]
            if nexts:
                tried.add((done | node.bit, nexts[0]))
                steps.append((node, done, state, nexts[1:]))
                done, state = done | node.bit, nexts[0]
                _lift(node)
                node = head.after
            else:
                node = node.after
            continue
        if not steps:  # an answer is due, and nothing fits before it
            return False
        node, done, state, others = steps.pop()
        others = [each for each in others if (done | node.bit, each) not in tried]
        if others:
            tried.add((done | node.bit, others[0]))
            steps.append((node, done, state, others[1:]))
            done, state = done | node.bit, others[0]
            node = head.after
        else:
            _unlift(node)
            node = node.after
    return True


def _line(ops: list[Operation]) -> _Node:
    """Calls and answers in order of time; at one moment calls come first, as what overlaps may be swapped."""
    moments: list[tuple[float, int, int, _Node]] = []
    for nth, op in enumerate(ops):
        call, answer = _Node(op, 1 << nth), _Node(None)
        call.match = answer
        moments += [(op.called, 0, nth, call), (op.answered, 1, nth, answer)]
    head = last = _Node(None)
    for *_, node in sorted(moments, key=lambda each: each[:3]):
        last.after, node.before = node, last
        last = node
    return head


def _lift(call: _Node) -> None:
    for node in (call, call.match):
        assert node is not None and node.before is not None
        node.before.after = node.after
        if node.after is not None:
            node.after.before = node.before


def _unlift(call: _Node) -> None:
    for node in (call.match, call):
        assert node is not None and node.before is not None
        node.before.after = node
        if node.after is not None:
            node.after.before = node
