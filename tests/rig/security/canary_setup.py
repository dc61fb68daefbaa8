"""A stage for canaries: a daemon with everything that takes secrets, and every way in which one reaches it.

Rules of this file
  1. A canary is planted once, in one place, as it would come in life.

Not here: payloads (canary_payloads.py), where it is looked for (canary_sinks.py), what is counted (tests/campaign/security/canaries.py).
"""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.rig.agents.callers import Errand, Request, child, detached
from tests.rig.agents.crowd import Crowd
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.agents.stand_in import Agent, in_environment, program
from tests.rig.browser.page_port import Door
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.raw_requests import JSON, exchange, files_waiting, hook, request
from tests.rig.security.canary_payloads import PAYLOADS
from tests.rig.security.canary_sinks import Follower, Sink, answers, files, printed

OTHERS = ("codex", "gemini", "opencode")


class Stage:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.daemon = Daemon(directory / "home")
        self.errands = directory / "errands"
        self.agents = directory / "agents"
        self.raw: list[bytes] = []  # what the naive store keeps: everything that came
        self.secrets: list[str] = []  # that the daemon made itself
        self._mine: set[int] = set()  # a machine has other agents, and the census finds them
        self._ends = contextlib.ExitStack()

    def open(self, secret: str) -> "Stage":
        config = self.daemon.home / "config.toml"
        config.write_text(f'[notify]\ncommand = ["/bin/false", "https://me:{secret}@127.0.0.1:9/{secret}"]\n')
        config.chmod(0o600)
        self.daemon.ready()
        self._ends.callback(self.daemon.stop)
        self.crowd = self._ends.enter_context(Crowd(self.agents / "crowd", 8))
        for member in self.crowd.members:
            self._mine.add(member.pid)
            self.take(member.conversation, "SessionStart", source="startup")
        self._follower = Follower(self.daemon)
        self._make_secrets()
        return self

    def close(self) -> None:
        self._ends.close()

    # --- ways in -------------------------------------------------------------------------------------

    def take(self, conversation: str, event: str, **fields: Any) -> None:
        (member,) = [each for each in self.crowd.members if each.conversation == conversation]
        body = payload(member, event, **fields)
        self.raw.append(body)
        drop(self.daemon.mailbox, member, body)

    def by_mailbox(self, nth: int, event: str, fields: dict[str, Any]) -> None:
        self.take(self.crowd.members[nth % len(self.crowd)].conversation, event, **fields)

    def by_http(self, nth: int, event: str, fields: dict[str, Any]) -> None:
        body = payload(self.crowd.members[nth % len(self.crowd)], event, **fields)
        self.raw.append(body)
        exchange(self.daemon.socket, hook(body), within=30)

    def other_agent(self, canary: str) -> None:
        for agent in OTHERS:
            said = {"session_id": f"other-{agent}", "sessionID": f"other-{agent}", "prompt": canary, "text": canary,
                    "tool_name": "shell", "tool_input": {"command": f"TOKEN={canary} make", "content": canary},
                    "hook_event_name": "BeforeTool", "event": "tool", "args": {"command": f"TOKEN={canary} make"}}  # fmt: skip
            self._post(f"/v1/hooks/{agent}", json.dumps(said).encode())

    def nonsense(self, canary: str) -> None:
        """What cannot be read: damaged JSON, no session, no object; by both ways."""
        for body in (f'{{"prompt": "{canary}', f'{{"prompt": "{canary}"}}', f'["{canary}"]', canary):
            self.raw.append(body.encode())
            self._post("/v1/hooks/claude-code", body.encode())
            (self.daemon.mailbox / f"1.{len(self.raw)}").write_bytes(b"1 (x) S\n" + body.encode())

    def headers(self, canary: str) -> None:
        for header in (
            f"Authorization: Headcount-Session {canary}",
            f"Cookie: x={canary}",
            f"X-Secret: {canary}",
        ):
            self._send(request("GET", "/v1/sessions/me?explain=1", b"", header))
        self._send(request("GET", f"/v1/sessions?token={canary}"))
        self._send(request("POST", f"/v1/stop?token={canary}", b"{}", JSON, host=f"{canary}.test"))

    def bodies(self, canary: str) -> None:
        self._post("/v1/web/login", json.dumps({"code": canary}).encode())
        self._post("/v1/claims", json.dumps({"item": {"no": canary}, "request": [canary]}).encode())
        self._post(
            "/v1/sessions/register",
            json.dumps({"agent": "x", "pid": canary, "token": canary}).encode(),
        )

    def database(self, canary: str) -> None:
        address = f"postgresql://me:{canary}@127.0.0.1:9/fleet?connect_timeout=2"
        self.raw.append(address.encode())
        detached(
            Errand(
                self.errands, self.daemon.socket, [Request("POST", "/v1/fleet/join", {"address": address})]
            )
        )

    def process(self, canary: str) -> None:
        """In the environment of an agent, in the arguments and the environment of what it leaves behind."""
        agent = in_environment(self.agents / "shell", {"MY_TOKEN": canary, "OTHER": canary})
        try:
            self._mine.add(agent.pid)
            agent.hook(self.daemon.mailbox, "SessionStart", source="startup")
            eventually(lambda: self.daemon.sessions(conversation=agent.conversation), within=30)
            left = agent.run(f"{{ SECRET={canary} sh -c 'sleep 60; : {canary}' >/dev/null 2>&1 & echo $!; }}")
            agent.kill()
            eventually(
                lambda: self.daemon.sessions(conversation=agent.conversation, liveness="ended"), within=30
            )
            self._ends.callback(_end, int(left))
        finally:
            agent.close()
        self.raw.append(canary.encode())

    def arguments(self, canary: str) -> None:
        """`claude -p "…"`: a prompt is in its command line."""
        agent = subprocess.Popen(
            ["claude", "-s", "--", "-p", canary],
            executable=str(program(self.agents / "shell")),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._mine.add(agent.pid)
        eventually(lambda: self.daemon.sessions(pid=agent.pid), within=30)
        self.raw.append(canary.encode())
        self._ends.callback(_close, agent)

    def transcript(self, canary: str) -> None:
        member = self.crowd.members[0]
        path = self.daemon.user_home / ".claude" / "projects" / "-srv" / f"{member.conversation}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [{"type": "user", "sessionId": member.conversation, "message": {"role": "user", "content": canary}},
                 {"type": "ai-title", "aiTitle": canary}, {"type": "agent-name", "agentName": canary},
                 {"type": "summary", "summary": canary}, {"type": "custom-title", "customTitle": f"{canary} (Branch)"},
                 {"type": "assistant", "sessionId": member.conversation, "message": {"role": "assistant", "model": "claude-x",
                  "content": [{"type": "text", "text": canary}], "usage": {"input_tokens": 5, "output_tokens": 1}}}]  # fmt: skip
        with path.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        self.raw.append(canary.encode())
        body = json.loads(payload(member, "Stop")) | {"transcript_path": str(path)}
        drop(self.daemon.mailbox, member, json.dumps(body).encode())

    def registry(self, canary: str) -> None:
        """As Claude Code writes it after `--bg PROMPT` and `/fork PROMPT`, by the user as it calls a branch, and 2.1.197."""
        member = self.crowd.members[1]
        stat = Path(f"/proc/{member.pid}/stat").read_text().rpartition(")")[2].split()
        path = self.daemon.user_home / ".claude" / "sessions" / f"{member.pid}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        for name, source in ((canary, "auto"), (f"{canary} (Branch)", "user"), (canary, None)):
            record = {"pid": member.pid, "sessionId": member.conversation, "procStart": stat[19], "status": "idle",
                      "name": name, "nameSource": source, "formerNames": [canary]}  # fmt: skip
            self.raw.append(json.dumps(record).encode())
            path.write_text(json.dumps({key: value for key, value in record.items() if value is not None}))

    def _post(self, path: str, body: bytes) -> None:
        self.raw.append(body)
        self._send(request("POST", path, body, JSON))

    def _send(self, data: bytes) -> None:
        self.raw.append(data)
        exchange(self.daemon.socket, data, within=30)

    def _make_secrets(self) -> None:
        """A token, a page's code and a credential, as the daemon makes them."""
        agent = self._ends.enter_context(Agent(self.agents / "launched"))
        (answer,) = child(
            agent,
            Errand(
                self.errands,
                self.daemon.socket,
                [Request("POST", "/v1/sessions/register", {"agent": "claude-code", "launch": True})],
            ),
        )
        assert answer.status == 201, answer
        self._mine.add(agent.pid)
        door = Door(self.daemon, self.errands).log_in()
        assert door.credential is not None
        self.secrets = [Path(answer.data["token_file"]).read_text(), door.code, door.credential]

    # --- where it must not be --------------------------------------------------------------------------

    def settle(self) -> None:
        eventually(lambda: not files_waiting(self.daemon), within=120)

    def sinks(self) -> Iterator[Sink]:
        """Every place that Headcount writes or tells, by its name."""
        yield from files(self.daemon)
        yield "the stream", "\n".join(self._follower.told).encode()
        rows = [row for row in self.daemon.sessions() if row["pid"] in self._mine or row["pid"] is None]
        yield from answers(self.daemon, [row["id"] for row in rows])
        for name in ("cmdline", "environ"):
            yield f"the daemon's {name}", Path(f"/proc/{self.daemon.pid}/{name}").read_bytes()

    def said_by_the_command_line(self, verbs: int) -> Iterator[Sink]:
        id = self.daemon.session(conversation=self.crowd.members[0].conversation)["id"]
        return printed(self.daemon, self.directory, id, verbs)


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.close(handle)


def _close(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.communicate()


Entrance = Callable[[Stage, int, str], None]


def _reported(way: Callable[[Stage, int, str, dict[str, Any]], None], name: str) -> Entrance:
    def plant(stage: Stage, nth: int, canary: str) -> None:
        event, fields = PAYLOADS[name](canary)
        way(stage, nth, event, fields)

    return plant


def _other(way: Callable[[Stage, str], None]) -> Entrance:
    return lambda stage, nth, canary: way(stage, canary)


ENTRANCES: dict[str, Entrance] = {
    **{name: _reported(Stage.by_mailbox, name) for name in PAYLOADS},
    "reports of other agents": _other(Stage.other_agent),
    "reports that cannot be read": _other(Stage.nonsense),
    "headers and addresses": _other(Stage.headers),
    "bodies of requests": _other(Stage.bodies),
    "the password of a database": _other(Stage.database),
    "an agent's environment, and what it left": _other(Stage.process),
    "an agent's arguments": _other(Stage.arguments),
    "a transcript": _other(Stage.transcript),
    "a registry": _other(Stage.registry),
    **{f"{name}, over HTTP": _reported(Stage.by_http, name) for name in PAYLOADS},
}
