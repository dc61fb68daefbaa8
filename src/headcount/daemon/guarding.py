"""Guarding: what of some paths and items is held by somebody else than the caller.

Rules of this file
  1. The caller's own claims and those of its ancestors are not in its way: a descendant works under them.
  2. A holder in doubt still holds: doubt frees nothing.
  3. A path is looked up by itself and by the trees above it; the number of claims does not matter.

Not here: who is calling (daemon/identity/caller.py), the claims themselves (core/claims/ledger.py).
"""

from collections.abc import Iterable, Iterator, Sequence

from headcount.core.state.world import World
from headcount.core.values.claim import Claim
from headcount.core.values.item import TREE, BadItem, Item, parse_item
from headcount.core.values.process import ProcessIdentity
from headcount.daemon.identity.caller import Actor


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
