"""Directories that are not there yet: waited for at the nearest directory above, not polled.

Rules of this file
  1. The news is that the way there went on, or was cut off: whoever waits looks, and waits again if need be.
  2. It is told once, also when the next step was made between the look and the watch.

Not here: what is done in a directory that came (registries, hints).
"""

from collections.abc import Callable
from pathlib import Path

from headcount.system.files.interface import IN_CREATE, IN_IGNORED, IN_MOVED_TO, FileEvent, FileEvents


def await_directory(files: FileEvents, directory: Path, look: Callable[[], object]) -> None:
    above = next(each for each in directory.parents if each.is_dir())
    step = directory.relative_to(above).parts[0]

    def changed(events: list[FileEvent]) -> None:
        if any(event.name in (None, step) or event.mask & IN_IGNORED for event in events):
            end()
            look()

    end = files.watch(above, IN_CREATE | IN_MOVED_TO, changed)
    if (above / step).is_dir():
        end()
        look()
