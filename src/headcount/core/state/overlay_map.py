"""A layer: a mapping above another one, that can be made true or forgotten."""

from collections.abc import Iterator, MutableMapping
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class OverlayMap(MutableMapping[K, V], Generic[K, V]):
    """Writes go to the top, reads fall through to the base; `None` on top hides the base's value."""

    __slots__ = ("_base", "_top")

    def __init__(self, base: dict[K, V]) -> None:
        self._base = base
        self._top: dict[K, V | None] = {}

    def __getitem__(self, key: K) -> V:
        value = self._top[key] if key in self._top else self._base[key]
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key: Any, default: Any = None) -> Any:
        value = self._top[key] if key in self._top else self._base.get(key)
        return default if value is None else value

    def __contains__(self, key: object) -> bool:
        """As inherited, without raising and catching a KeyError for each that is not there."""
        return self.get(key) is not None

    def __setitem__(self, key: K, value: V) -> None:
        self._top[key] = value

    def __delitem__(self, key: K) -> None:
        self._top[key] = None

    def __iter__(self) -> Iterator[K]:
        yield from (key for key in self._base if key not in self._top)
        yield from (key for key, value in self._top.items() if value is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def settle(self, *, moved: bool = False) -> None:
        """`moved`: what was written stands last, so that the first in the base is the one longest untouched."""
        if not self._top:
            return
        for key, value in self._top.items():
            if value is None or moved:
                self._base.pop(key, None)
            if value is not None:
                self._base[key] = value
        self._top = {}


def add_to(index: "OverlayMap[K, tuple[V, ...]]", key: K, value: V) -> None:
    index[key] = (*index.get(key, ()), value)


def take_from(index: "OverlayMap[K, tuple[V, ...]]", key: K, value: V) -> None:
    rest = tuple(each for each in index.get(key, ()) if each != value)
    if rest:
        index[key] = rest
    elif key in index:
        del index[key]
