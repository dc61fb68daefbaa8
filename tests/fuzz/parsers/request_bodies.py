"""Bodies of requests, as the wire's types: refused as a bad body or taken, and nothing else; and our own settings file."""

import json
import math
from dataclasses import fields
from typing import Any

import msgspec

from headcount.daemon.api.route import read_body
from headcount.daemon.config import BadSetting, Config
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.routes.table import ROUTES
from tests.fuzz.parsers.transcripts import place
from tests.fuzz.promises import is_storable, is_text
from tests.fuzz.target import Target

BODIES: tuple[Any, ...] = tuple(dict.fromkeys(route.body for route in ROUTES if route.body is not None))


def check(data: bytes) -> None:
    for kind in BODIES:
        try:
            wish = read_body(data, kind)
        except HttpRefusal as refused:
            assert refused.status == 400
            is_text(refused.body.error.message, "a refusal")
            assert len(msgspec.json.encode(refused.body)) < 2_000
            continue
        is_storable(wish, kind.__name__)


def naive(data: bytes) -> None:
    try:
        found = json.loads(data)
    except ValueError:
        return
    for kind in BODIES:
        kind(**found)


def bodies() -> list[bytes]:
    wishes = [
        {"item": "task:a", "request": "r", "note": "n", "wait": 1.5, "as": "s", "until_empty": True, "own": False},
        {"fence": 17}, {"to": "s", "fence": None}, {"agent": "codex", "conversation": "c", "pid": 5, "groups": ["a"], "launch": True},
        {"seconds": 5.0, "why": "w", "off": False}, {"kill_after": None, "all": True, "close_window": True},
        {"yes": True, "sessions": ["s"], "pids": [1], "ids": ["i"], "kind": "process", "kill_after": 3},
        {"paths": ["/a"], "items": ["task:a"]}, {"address": "postgresql://h/d", "name": "n"}, {"anyway": True}, {"code": "c"},
    ]  # fmt: skip
    return [json.dumps(wish).encode() for wish in wishes]


# --- our own settings ------------------------------------------------------------------------------


def check_config(data: bytes) -> None:
    """Every value is of the kind and size that its setting has, or the file is refused in words."""
    path = place() / "config.toml"
    path.write_bytes(data)
    path.chmod(0o600)
    try:
        config = Config.read(path, {})
    except BadSetting as bad:
        assert str(path) in str(bad) and len(str(bad)) > len(str(path)) + 10
        return
    plain = Config()
    for each in fields(Config):
        value, usual = getattr(config, each.name), getattr(plain, each.name)
        assert type(value) is type(usual), f"{each.name} is {value!r}"
        if isinstance(value, float | int) and not isinstance(value, bool):
            assert math.isfinite(value) and value >= 0, f"{each.name} is {value!r}"
    assert config.idle_limit is None or config.idle_limit > 0


def naive_config(data: bytes) -> None:
    import tomllib

    try:
        found = tomllib.loads(data.decode())
    except ValueError:
        return
    assert int(found.get("sessions_kept", 1)) > 0 and float(found.get("retention_days", 1)) > 0


def configs() -> list[bytes]:
    return [
        b"retention_days = 30\nstore_max_mb = 64.5\nsessions_kept = 10\nweb_port = 8080\n", b'claude_roots = ["/a"]\n[tmux]\nsessions = ["a"]\n',
        b'[close]\nidle_after = "12h"\n', b"[notify]\ndesktop = true\nkinds = []\nlong_turn_minutes = 2\ncommand = [\"x\"]\n",
        b"sessions_kept = inf\n", b"retention_days = nan\n", b"web_port = 70000\n", b"x = 1\n", b"stall_minutes = 1e308\n",
    ]  # fmt: skip


TARGETS = (
    Target("body", check, naive, bodies),
    Target("config", check_config, naive_config, configs, slow=True),
)
