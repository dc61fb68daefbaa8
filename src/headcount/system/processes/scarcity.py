"""Looks that failed because no descriptor or memory was left: what they did not see may be there all the same.

Rules of this file
  1. Whoever asks the kernel for a descriptor to look at a process notes here that there was none. The look goes on
     with what it has, as for a process that hides itself.
  2. Who must not take "not seen" for "not there" (who a caller is, what it carries) compares before and after. A shortage
     that another thread met counts too: doubt raises nobody's rights.

Not here: keeping descriptors free (descriptor_limits.py, system/processes/pidfds/watches.py).
"""

import errno

NOTHING_LEFT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})

_met = 0


def note(error: OSError) -> None:
    global _met
    if error.errno in NOTHING_LEFT:
        _met += 1


def count_met() -> int:
    return _met
