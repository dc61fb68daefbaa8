"""A target: one parser of foreign bytes, what must hold for every input, and the naive way beside it.

Rules of this file
  1. `check` raises for a broken promise and for nothing else. What a parser may refuse is refused inside it.
  2. `naive` is the same promise asked of the plain way to write that parser. The driver must break it, or the
     target proves nothing.
  3. Seeds are recorded samples and the files in corpus/<name>/; what was found stays there and is replayed by a test.

Not here: making inputs (mutate.py, with_atheris.py), the table of all (table.py).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
SAMPLES = Path(__file__).parents[1] / "rig" / "samples"

Check = Callable[[bytes], None]


def no_samples() -> Iterable[bytes]:
    return ()


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    check: Check
    naive: Check
    samples: Callable[[], Iterable[bytes]] = no_samples
    slow: bool = False  # a file or a database for each input: fewer of them in the gate

    @property
    def directory(self) -> Path:
        return CORPUS / self.name

    def kept(self) -> dict[str, bytes]:
        """What is committed: seeds, and what was found."""
        if not self.directory.is_dir():
            return {}
        return {path.name: path.read_bytes() for path in sorted(self.directory.iterdir())}

    def seeds(self) -> list[bytes]:
        return list(dict.fromkeys([*self.kept().values(), *self.samples(), b""]))


def sample_files(*patterns: str) -> Callable[[], list[bytes]]:
    """Recorded samples of the real CLIs, below tests/rig/samples."""

    def read() -> list[bytes]:
        return [path.read_bytes() for pattern in patterns for path in sorted(SAMPLES.glob(pattern))]

    return read


def sample_lines(pattern: str, at_once: int = 4) -> Callable[[], list[bytes]]:
    """A recorded file of lines in pieces of a few lines: each piece small enough to be changed often."""

    def read() -> list[bytes]:
        pieces = []
        for path in sorted(SAMPLES.glob(pattern)):
            lines = path.read_bytes().splitlines(keepends=True)
            pieces += [b"".join(lines[at : at + at_once]) for at in range(0, len(lines), at_once)]
        return pieces

    return read
