"""A scene for the page: a real daemon, stand-in agents, and tabs that are closed with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tests.rig.agents.callers import Errand, Request, child
from tests.rig.agents.stand_in import Agent
from tests.rig.browser.chromium import Tab
from tests.rig.browser.page_link import link
from tests.rig.daemon.real_daemon import Daemon

ASKS = ("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "alembic upgrade head"}})
PROMPT = ("UserPromptSubmit", {"prompt": "x"})
EDITS = ("PreToolUse", {"tool_name": "Edit", "tool_input": {"file_path": "/src/fr.json"}})


class Scene:
    def __init__(self, daemon: Daemon, browser: Browser, place: Path, make: Callable[..., Agent]) -> None:
        self.daemon = daemon
        self.place = place
        self.browser = browser
        self._make = make
        self.tabs: list[Tab] = []

    def agent(self, name: str, *events: tuple[str, dict[str, Any]], **how: Any) -> tuple[Agent, str]:
        agent = self._make(**how)
        agent.hook(self.daemon.mailbox, "SessionStart", source="startup", session_title=name)
        for event, fields in events:
            agent.hook(self.daemon.mailbox, event, session_title=name, **fields)
        return agent, self.daemon.session(conversation=agent.conversation, name=name)["id"]

    def tab(self, **context: Any) -> Tab:
        tab = Tab(self.browser, **context)
        self.tabs.append(tab)
        return tab.open(link(self.daemon, self.place / "errands"))

    def show(self, tab: Tab, view: str) -> Tab:
        tab.page.goto(tab.page.url.split("#")[0] + f"#/{view}")
        return tab

    def claim(self, agent: Agent, item: str) -> None:
        wish = Request("POST", "/v1/claims", {"item": item})
        (answer,) = child(agent, Errand(self.place / "errands", self.daemon.socket, [wish]))
        assert answer.status == 200, answer

    def close(self) -> None:
        for tab in self.tabs:
            tab.close()
