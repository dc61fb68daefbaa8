"""Faults: what can go wrong between a client and the daemon, each with its exit code.

Rules
  1. A fault has one sentence for people and, where there is one, the next step.
  2. What the daemon refused keeps the daemon's words; nothing is reworded on the way.
  3. A fault can be sent to another process as it is: a pool of workers hands on what its workers raise.

Not here: exit codes' meaning (wire/exit_codes.py), printing (cli/main.py).
"""

from headcount.wire import exit_codes


class ClientFault(Exception):
    exit_code = exit_codes.FAULT

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint is not None:
            self.add_note(hint)  # a traceback shows it

    def __reduce__(self) -> tuple[object, ...]:
        return remade, (type(self), self.args, self.__dict__)


def remade(kind: type[ClientFault], args: tuple[object, ...], fields: dict[str, object]) -> ClientFault:
    fault = kind.__new__(kind, *args)
    fault.__dict__.update(fields)
    return fault


class Unavailable(ClientFault):
    """The daemon cannot be reached, or does not answer."""

    exit_code = exit_codes.UNAVAILABLE


class NotRunning(Unavailable):
    """Nobody listens on the socket: proven by connect, not by a file."""


class Broken(Unavailable):
    """The connection ended before the answer did."""


class Deaf(Unavailable):
    """Somebody listens and does not answer in time."""


class TimedOut(ClientFault):
    """The caller's own deadline passed while it waited on a stream."""


class WrongCall(ClientFault):
    """The caller's words make no sense; the daemon was not asked."""

    exit_code = exit_codes.USAGE


class Refused(ClientFault):
    """The daemon answered, and the answer was no."""

    def __init__(self, status: int, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code
        self.exit_code = exit_codes.EXIT_BY_STATUS.get(status, exit_codes.FAULT)


class NotFound(Refused):
    """No such thing is known."""


def refusal(status: int, data: object) -> Refused:
    """The fault that an answer of 400 or more stands for, whatever its body is."""
    error = data.get("error") if isinstance(data, dict) else None
    fields: dict[str, object] = error if isinstance(error, dict) else {}
    code = str(fields.get("code") or "unknown")
    message = str(fields.get("message") or f"The daemon answered {status} without saying why.")
    hint = fields.get("hint")
    kind = NotFound if status in (404, 410) else Refused
    return kind(status, code, message, hint if isinstance(hint, str) else None)
