"""All targets, in one table."""

from tests.fuzz.parsers import (
    agent_settings,
    displayed_text,
    hook_payloads,
    http_heads,
    items,
    mailbox_files,
    registries,
    request_bodies,
    transcripts,
)
from tests.fuzz.target import Target

MODULES = (
    hook_payloads,
    registries,
    transcripts,
    mailbox_files,
    items,
    http_heads,
    request_bodies,
    agent_settings,
    displayed_text,
)

TARGETS: dict[str, Target] = {target.name: target for module in MODULES for target in module.TARGETS}
