"""One target under atheris: coverage leads it, our own changes and libFuzzer's take turns.

    python -m tests.fuzz.with_atheris TARGET SECONDS SEED

Rules of this file
  1. Run by __main__.py in a process of its own: libFuzzer ends its process, and a hang or a crash of the interpreter
     is a finding like any other.
  2. What it found is written beside its corpus, in a scratch directory; who started it reads it there.

Needs the extra `fuzz`. Not here: the driver without atheris (mutate.py).
"""

import random
import sys
from pathlib import Path

import atheris

SLOW = 25  # seconds for one input: a hang
MEMORY = 2_000  # megabytes


def main() -> None:
    name, seconds, seed, scratch = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])
    with atheris.instrument_imports(include=["headcount"]):
        from tests.fuzz.table import TARGETS
    from tests.fuzz.mutate import mutated

    target = TARGETS[name]
    seeds = target.seeds()
    corpus = scratch / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for nth, data in enumerate(seeds):
        (corpus / f"seed-{nth}").write_bytes(data)
    chance = random.Random(seed)

    def change(data: bytes, most: int, _seed: int) -> bytes:
        if chance.random() < 0.5:
            return atheris.Mutate(data, most)
        return mutated(data, seeds, chance)[:most]

    options = [
        sys.argv[0], str(corpus), f"-max_total_time={seconds}", f"-seed={seed}", f"-artifact_prefix={scratch}/", "-max_len=65536",
        f"-timeout={SLOW}", f"-rss_limit_mb={MEMORY}", "-print_final_stats=1", "-verbosity=0",
    ]  # fmt: skip
    atheris.Setup(options, target.check, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
