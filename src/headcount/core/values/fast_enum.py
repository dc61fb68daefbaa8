"""A vocabulary: a fixed set of words, each the only one of its kind.

Rules
  1. Tables are looked up by words, and words are written out, many times for everything that comes in. So a word is
     hashed by what it is and gives its value without a detour; Python's own Enum takes a call for each.
"""

from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING


class FastEnum(Enum):
    __hash__ = object.__hash__

    if not TYPE_CHECKING:  # for mypy it is what it is in every Enum
        value = property(attrgetter("_value_"))
