"""The types that the faces read (wire/views.py, wire/answer_views.py) equal the messages that the daemon sends.

Rules of this file
  1. Each view has the fields and types of the struct of its name. `Any` in a struct may be anything in a view.
  2. What has no struct, and fields that only some answers have, are named here with the reason.
"""

import types
from collections.abc import Iterator, Set
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

import msgspec
import pytest

from headcount import wire
from headcount.wire import answer_views, views

WITHOUT_STRUCT = {
    *(
        "Ancestor",
        "Caller",
        "EventFacts",
        "StoreFacts",
    ),  # inside `facts` and `store`, which the structs leave open
    "HostRow",  # the part of FleetHost that `ps` shows; `ps --host` makes its own
}
MORE_FIELDS = {
    "Sessions": {"hosts"},  # `ps --fleet` and `ps --host` have them
    "SessionRow": {"host", "host_state", "host_age_s"},  # FleetSessions and `ps --hosts` add them
}
UNDER_ANOTHER_NAME = {
    "StreamEvent": ("EventRow", {"sessions", "host"})
}  # also the snapshot, and `watch --host`


def structs() -> dict[str, type]:
    modules = [
        import_module(f"headcount.wire.{path.stem}")
        for path in Path(wire.__file__).parent.glob("*.py")
        if not path.stem.endswith("views")
    ]
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    }


def all_views() -> dict[str, type]:
    found = {**vars(views), **vars(answer_views)}
    return {name: kind for name, kind in found.items() if is_typeddict(kind)}


def differences(view: type, struct: type, more: Set[str] = frozenset()) -> Iterator[str]:
    seen, said = get_type_hints(view), get_type_hints(struct)
    for field in sorted(seen.keys() - said.keys() - more):
        yield f"{view.__name__}.{field} is in no message"
    for field in sorted(said.keys() - seen.keys()):
        yield f"{view.__name__}.{field} is missing"
    for field in sorted(said.keys() & seen.keys()):
        if not is_same(seen[field], said[field]):
            yield f"{view.__name__}.{field} is {seen[field]}, and {said[field]} in the message"


def is_same(seen: Any, said: Any) -> bool:
    if said is Any:
        return True
    if said == dict[str, Any]:
        return is_typeddict(seen) or get_origin(seen) is dict
    if isinstance(said, type) and issubclass(said, msgspec.Struct):
        return is_typeddict(seen) and seen.__name__ == said.__name__
    if get_origin(said) in (Union, types.UnionType):
        theirs, ours = list(get_args(said)), list(get_args(seen))
        return len(theirs) == len(ours) and all(map(is_same, ours, theirs))
    if get_origin(said) is not None:
        return get_origin(seen) is get_origin(said) and all(map(is_same, get_args(seen), get_args(said)))
    return bool(seen == said)


@pytest.mark.parametrize("name", sorted(all_views().keys() - WITHOUT_STRUCT))
def test_a_view_has_the_fields_and_types_of_its_message(name: str) -> None:
    of, more = UNDER_ANOTHER_NAME.get(name, (name, set()))
    more = (
        more | MORE_FIELDS.get(of, set()) | (MORE_FIELDS["SessionRow"] if name == "SessionDetail" else set())
    )
    assert list(differences(all_views()[name], structs()[of], more)) == []


def test_a_view_that_differs_is_found() -> None:
    class Message(msgspec.Struct):
        id: str
        pid: int | None
        lines: list[int]
        gone: bool

    class View(TypedDict):
        id: int
        pid: int
        lines: list[str]
        new: str

    told = " ".join(differences(View, Message))
    for field in ("View.id is", "View.pid is", "View.lines is", "View.new is in no", "View.gone is missing"):
        assert field in told


def test_the_exceptions_named_here_exist() -> None:
    assert WITHOUT_STRUCT | set(MORE_FIELDS) | set(UNDER_ANOTHER_NAME) <= all_views().keys()
    assert not WITHOUT_STRUCT & structs().keys()
