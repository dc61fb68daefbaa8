"""All targets, in one table."""

from tests.fuzz import heads, items, letters, messages, payloads, registries, settings, transcripts, words
from tests.fuzz.target import Target

MODULES = (payloads, registries, transcripts, letters, items, heads, messages, settings, words)

TARGETS: dict[str, Target] = {target.name: target for module in MODULES for target in module.TARGETS}
