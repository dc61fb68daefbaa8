"""Every field that the page reads exists on the wire: a field that is never sent would show nothing."""

import re

import pytest

from headcount.daemon.routes.dispatch import PLACE
from headcount.wire import claims, events, fleet, leftovers, sessions, stop_close_reap, timeline

ROW = {*sessions.SessionRow.__struct_fields__, "host", "host_state", "host_age_s"}
LEFT = set(leftovers.LeftoverRow.__struct_fields__)
RESULT = set(stop_close_reap.Signalled.__struct_fields__)
HOLDER = set(claims.Holder.__struct_fields__)
EVENT = set(events.EventRow.__struct_fields__)
HOST = set(fleet.FleetHost.__struct_fields__)
LANE = {*timeline.Lane.__struct_fields__}
SPAN = {*timeline.Span.__struct_fields__, *timeline.HeldSpan.__struct_fields__}
CLAIM = set(claims.ClaimRow.__struct_fields__)

READ: dict[str, dict[str, set[str]]] = {
    "words.js": {"raw": ROW, "ended": set(sessions.Ended.__struct_fields__)},
    "hearing.js": {"raw": ROW, "event": EVENT},
    "state.js": {"raw": ROW | LANE},
    "remains.js": {"leftover": LEFT, "each": LEFT | RESULT, "result": RESULT},
    "story.js": {"raw": ROW, "event": EVENT, "holder": HOLDER, "left": LEFT},
    "views/board.js": {"raw": ROW},
    "views/claims.js": {"claim": CLAIM, "holder": HOLDER, "event": EVENT},
    "views/leftovers.js": {
        "each": LEFT,
        "result": RESULT,
        "dry": set(stop_close_reap.ReapAnswer.__struct_fields__),
    },
    "views/fleet.js": {
        "each": HOST,
        "raw": ROW,
        "known": set(fleet.FleetStatus.__struct_fields__),
    },
    "views/session.js": {"raw": ROW, "event": EVENT},
    "views/timeline.js": {"lane": LANE, "each": SPAN, "held": SPAN},
    "views/today.js": {
        "day": set(timeline.Today.__struct_fields__),
        "each": set(timeline.Waited.__struct_fields__),
    },
}
OF_SCRIPTS = {"length", "map", "filter", "find", "has", "get", "clientX", "clientY", "preventDefault", "target",
              "ctrlKey", "shiftKey", "deltaY", "test", "slice", "every"}  # fmt: skip


def fields_read(name: str, variable: str, text: str) -> set[str]:
    return set(re.findall(rf"(?<![\w.]){variable}\??\.(\w+)", text)) - OF_SCRIPTS


@pytest.mark.parametrize("name", sorted(READ))
def test_every_field_that_the_page_reads_is_on_the_wire(name: str) -> None:
    text = (PLACE / name).read_text()
    for variable, known in READ[name].items():
        read = fields_read(name, variable, text)
        if name == "state.js" and variable == "raw":
            read -= {"raw"}
        assert read <= known, (name, variable, sorted(read - known))
        assert read, f"{name} reads nothing of {variable}: mend this test"


def test_a_name_that_the_wire_does_not_have_is_found() -> None:
    """The negative control: fields that the page once read and the daemon never sent."""
    naive = "const held = leftover.memory ?? leftover.bytes ?? leftover.rss;"
    assert not fields_read("remains.js", "leftover", naive) <= LEFT
