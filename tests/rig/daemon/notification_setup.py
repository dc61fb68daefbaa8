"""What tests of notifications stand on: somebody who receives, settings, a question, and what came of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.notification_receiver import Receiver
from tests.rig.daemon.real_daemon import Daemon


@pytest.fixture
def receiver(tmp_path: Path) -> Receiver:
    return Receiver(tmp_path)


def configure(home: Path, **settings: Any) -> None:
    home.mkdir(parents=True, exist_ok=True)
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    (home / "config.toml").write_text("[notify]\n" + "\n".join(lines) + "\n")
    (home / "config.toml").chmod(0o600)


def ask(agent: Agent, daemon: Daemon, command: str = "make") -> None:
    agent.hook(daemon.mailbox, "PermissionRequest", tool_name="Bash", tool_input={"command": command})


def kinds(receiver: Receiver, session: str) -> list[str]:
    return [row["kind"] for row in receiver.notices(session)]
