"""A vocabulary: a fixed set of words, each the only one of its kind.

Rules of this file
  1. A word is hashed by what it is, which C does, not by its name, which Python does: tables are looked up by words
     for everything that comes in, many times each.
"""

from enum import Enum


class Vocabulary(Enum):
    __hash__ = object.__hash__
