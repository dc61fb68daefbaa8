"""Tell a guard whether an edit, a commit or a push touches what another live session holds.

Rules
  1. If nothing is in the way, the answer is an empty 204 and the agent goes on.
  2. A denial names the holder and suggests waiting. It never tells anybody to release.
  3. The question is not a report: it changes nothing and is not remembered.
  4. The caller's own claims and those of its ancestors are not in its way: a descendant works under them.
  5. A holder in doubt still holds.
  6. A path is looked up by itself and by the trees above it, so the number of claims does not matter.

Not here: the hook line that asks (agents/installing/hook_line_asks_daemon.py), who is calling
  (daemon/identity/caller.py), the claims themselves (core/claims/ledger.py).
"""

from collections.abc import Iterable, Iterator, Sequence

from headcount.agents.catalog import AGENTS
from headcount.agents.interface import Unread
from headcount.clean_text import ITEM_MOST, command, said
from headcount.core.state.world import World
from headcount.core.values.claim import Claim
from headcount.core.values.item import TREE, BadItem, Item, parse_item
from headcount.core.values.process import ProcessIdentity
from headcount.daemon.api.route import Call
from headcount.daemon.http.answer import NOTHING, json_answer
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.identity.actor import Actor
from headcount.daemon.routes.shared_claims import elsewhere
from headcount.daemon.views.claim_row import held_sentence, holder_row
from headcount.daemon.views.session_row import LIVENESS_WORDS, hosted_by, time_text
from headcount.system.mount_namespaces import is_ours
from headcount.wire.claims import Conflict, Conflicts, GitIntent

WAIT_SUGGESTED = 600
TOUCHES_MOST = 20


def own_processes(actor: Actor, chain: Iterable[ProcessIdentity] = ()) -> list[ProcessIdentity]:
    """On whose claims the caller may work: its agent's, its own, and those of whoever is above."""
    found = (actor.process, actor.caller, *actor.above, *chain)
    return [each for each in found if each is not None]


def in_the_way(
    world: World, own: Sequence[ProcessIdentity], conversation: str | None, item: Item
) -> Claim | None:
    """The claim of somebody else on that item; None: nothing stands in the way."""
    claim = world.book.claims.get(item)
    if claim is None or claim.holder is None:
        return None
    if any(claim.is_held_by(process) for process in own):
        return None
    if not own and conversation is not None and claim.conversation == conversation:
        return None  # the kernel showed nobody; the agent's own word is all there is
    return claim


def on_paths(
    world: World, own: Sequence[ProcessIdentity], paths: Iterable[str], conversation: str | None = None
) -> dict[Item, tuple[Claim, list[str]]]:
    """Others' claims that cover any of the paths, each with the paths it covers."""
    found: dict[Item, tuple[Claim, list[str]]] = {}
    if not world.book.held_paths:
        return found
    for path in paths:
        for item in _covering(path):
            claim = in_the_way(world, own, conversation, item)
            if claim is not None:
                found.setdefault(claim.item, (claim, []))[1].append(path)
    return found


def on_items(world: World, own: Sequence[ProcessIdentity], texts: Iterable[str]) -> list[Claim]:
    items = (parse_item(text, stored=True) for text in texts)
    claims = (in_the_way(world, own, None, item) for item in items if not isinstance(item, BadItem))
    return [claim for claim in claims if claim is not None]


def _covering(path: str) -> Iterator[Item]:
    """The item of the path itself, and of every tree that holds it."""
    itself = parse_item(f"path:{path}")
    if isinstance(itself, BadItem):  # a name that cannot be claimed; the directory that it is in can
        above = path.rpartition("/")[0]
        if above:
            yield from _covering(above)
        return
    yield itself
    value = itself.removeprefix("path:").removesuffix(TREE)
    while value:
        yield Item(f"path:{value}{TREE}")
        value = value.rpartition("/")[0]
    yield Item(f"path:{TREE}")


async def guard_edit(call: Call) -> object:
    agent = AGENTS.get(call.path("agent"))
    if agent is None:
        raise HttpRefusal(404, "no-such-agent", f"Known agents: {', '.join(AGENTS)}.")
    parts = call.parts
    report = agent.translate(call.payload, parts.clock.now(), "http")
    if isinstance(report, Unread) or report.would_edit is None or not parts.loop.world.book.held_paths:
        return NOTHING
    own = await own_of(call)
    path = await parts.worktrees.real_path(report.would_edit, call.actor.caller)
    found = on_paths(parts.loop.world, own, [path], report.conversation)
    if not found:
        return NOTHING
    claim = next(iter(found.values()))[0]
    parts.loop.counts["edits_guarded"] += 1
    return json_answer(_denial(call, claim))


async def guard_git(call: Call) -> Conflicts:
    intent = call.body(GitIntent)
    world, own = call.parts.loop.world, await own_of(call)
    named = await call.parts.worktrees.spaces.named_by(call.actor.caller, intent.paths)
    paths = on_paths(world, own, filter(is_ours, named.values()))
    conflicts = [_conflict(call, claim, []) for claim in on_items(world, own, intent.items)]
    conflicts += [_conflict(call, claim, []) for claim in await elsewhere(call, own, intent.items)]
    conflicts += [_conflict(call, claim, touched) for claim, touched in paths.values()]
    return Conflicts(conflicts=conflicts)


async def own_of(call: Call) -> list[ProcessIdentity]:
    actor = await call.who()
    chain = call.seen.chain
    return own_processes(actor, [facts.identity for facts in chain])


def _denial(call: Call, claim: Claim) -> dict[str, object]:
    """In the words of the agent's PreToolUse hook."""
    held = held_sentence(claim, call.parts.loop.world)
    waiting = command("headcount", "claim", claim.item, "--wait", str(WAIT_SUGGESTED))
    reason = f"{said(claim.item, ITEM_MOST)}: {held} Pick other work, or wait: {waiting}"
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }


def _conflict(call: Call, claim: Claim, touches: list[str]) -> Conflict:
    world = call.parts.loop.world
    session = hosted_by(claim, world)
    return Conflict(
        item=claim.item,
        holder=holder_row(claim, world),
        since=time_text(claim.since),
        liveness=LIVENESS_WORDS[session.liveness] if session else None,
        activity=session.activity.doing.value if session else None,
        touches=touches[:TOUCHES_MOST],
        doing=session.activity.label if session else None,
        note=claim.note,
    )
