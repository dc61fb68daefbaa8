"""The requests themselves, made by schemathesis in the first process of a pid namespace. See wire.py.

    python -m tests.fuzz.wire_inside SECONDS SEED EXAMPLES FLAW ONLY

Rules of this file
  1. Half of the names in a path are of something that exists, else every answer would be "not found".
  2. `POST /v1/stop` is left out: it does what it says. A 503 is allowed where another program is asked, which is only
     the fleet's database.
  3. FLAW breaks the daemon on purpose, for the control: `bodies` reads them as one would at first, `schema` answers
     `/healthz` in another form.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode, Response
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import Failure, FailureGroup

from tests.fuzz.relay import Relay
from tests.rig.agents.commands_inside import settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

LEFT_OUT = frozenset({("POST", "/v1/stop")})
MAY_BE_AWAY = frozenset({"/v1/fleet/join"})
BODY_WAYS = ("as it is", "no body", "not JSON", "half", "deep")
WANTED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
FLAWS = {
    "none": "",
    "bodies": "import msgspec\nfrom headcount.daemon.api import route\nroute.UNREADABLE = (msgspec.MsgspecError,)\n",
    "schema": (
        "from headcount.daemon.routes import daemon\nfrom headcount.daemon.http.answer import json_answer\n"
        "async def health(call): return json_answer({'ok': 'yes'})\ndaemon.health = health\n"
    ),
}


def main() -> None:
    seconds, number, examples, flaw = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    only = sys.argv[5] if len(sys.argv) > 5 else ""
    load_all_checks()
    with tempfile.TemporaryDirectory(prefix="headcount-wire-") as place, scene(Path(place), flaw) as made:
        wire = Wire(*made, until=time.monotonic() + seconds, first=flaw != "none")
        wire.run(number, examples, only)
    print(json.dumps({"requests": wire.requests, "faults": list(wire.faults.values())}), flush=True)


@contextmanager
def scene(place: Path, flaw: str) -> Iterator[tuple[Daemon, str, dict[str, Relay]]]:
    site = place / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(FLAWS[flaw])
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    with Daemon(place / "home", PYTHONPATH=path) as daemon, Agent(place / "agents") as agent:
        session = settled(agent, daemon)
        relays = {
            "operator": Relay(place / "relays", "operator", daemon.socket),
            "agent": Relay(place / "relays", "agent", daemon.socket, agent),
        }
        yield daemon, session, relays
        for relay in relays.values():
            relay.close()


class Wire:
    def __init__(
        self, daemon: Daemon, session: str, relays: dict[str, Relay], until: float, first: bool
    ) -> None:
        self._daemon = daemon
        self._relays = relays
        self._until = until
        self._first = first  # one fault is enough: of a control
        self._known = {
            "id": [session, session[:4], "nobody"],
            "agent": ["claude-code", "codex", "opencode", "gemini"],
            "item": ["task:a", "path:/tmp/**", "port:80", "branch:r#m"],
        }
        self._checks = CHECKS.get_by_names(list(WANTED))
        self.requests = 0
        self.faults: dict[str, str] = {}

    def run(self, number: int, examples: int, only: str) -> None:
        schema = schemathesis.openapi.from_dict(self._daemon.get("/openapi.json"))
        operations = [found.ok() for found in schema.get_all_operations()]
        chosen = [
            each
            for each in operations
            if (each.method.upper(), each.path) not in LEFT_OUT and each.label.startswith(only or each.label)
        ]
        few, before = min(examples, 10), -1  # all of it shallowly first, then again with other numbers
        while examples > 0 and time.monotonic() < self._until and self.requests > before:
            before = self.requests
            for operation in chosen:
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                    if self._first and self.faults:
                        return
                    self._ask(operation, mode, few, number)
            examples, number = examples - few, number + 1

    def _ask(self, operation: Any, mode: GenerationMode, examples: int, number: int) -> None:
        quiet = settings(
            max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
        )  # fmt: skip

        @seed(number)
        @quiet
        @given(st.data())
        def one(data: Any) -> None:
            case = data.draw(operation.as_strategy(generation_mode=mode))
            for name, known in self._known.items():
                if name in (case.path_parameters or {}) and data.draw(st.booleans()):
                    case.path_parameters[name] = data.draw(st.sampled_from(known))
            caller = data.draw(st.sampled_from(sorted(self._relays)))
            way = data.draw(st.sampled_from(BODY_WAYS)) if mode is GenerationMode.NEGATIVE else BODY_WAYS[0]
            if time.monotonic() < self._until:  # asked last: what is drawn must not depend on the time
                self._send(case, caller, way)

        try:
            one()
        except schemathesis.errors.SchemathesisError:
            return  # nothing can be wrong with an operation that takes nothing
        except Exception as error:
            if "Unsatisfiable" not in type(error).__name__:
                raise

    def _send(self, case: Any, caller: str, way: str) -> None:
        request = requests.Request(**case.as_transport_kwargs(base_url="http://localhost")).prepare()
        raw = _raw(request, way)
        got = self._relays[caller].send(raw)
        self.requests += 1
        label = f"{case.operation.label} as {caller}"
        head, mark, body = got.partition(b"\r\n\r\n")
        if not mark or not head.startswith(b"HTTP/1.1 "):
            self.faults.setdefault(label, f"{label}: no answer but {got[:80]!r} to {raw[:300]!r}")
            return
        response = _response(request, head, body)
        if response.status_code == 503 and case.operation.path in MAY_BE_AWAY:
            return
        try:
            case.validate_response(response, checks=self._checks)
        except (Failure, FailureGroup) as failure:
            words = [str(each) for each in getattr(failure, "exceptions", [failure])]
            self.faults.setdefault(
                label,
                f"{label}: {response.status_code} {'; '.join(words)[:300]} to {raw[:400]!r}: {body[:200]!r}",
            )


def _raw(request: requests.PreparedRequest, way: str) -> bytes:
    body = request.body or b""
    body = body.encode() if isinstance(body, str) else bytes(body)
    if body and way != "as it is":
        body = {
            "no body": b"",
            "not JSON": b"\xff\xfe" + body,
            "half": body[: len(body) // 2],
            "deep": b'{"a":' * 5_000,
        }[way]
    kind = ["Content-Type: application/json"] if request.method in ("POST", "PUT", "PATCH") else []
    target = (request.path_url or "/").encode("ascii", "replace").decode()
    lines = [
        f"{request.method} {target} HTTP/1.1",
        "Host: localhost",
        "Connection: close",
        *kind,
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _response(request: requests.PreparedRequest, head: bytes, body: bytes) -> Response:
    first, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, list[str]] = {}
    for name, _, value in (line.partition(": ") for line in lines):
        headers.setdefault(name.lower(), []).append(value)
    return Response(int(first.split()[1]), headers, body, request, 0.0, verify=False)


if __name__ == "__main__":
    main()
