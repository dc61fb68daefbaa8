"""The address of the shared database: the part that may be stored and shown, and the password, which may not.

Rules
  1. The password is taken out of the address before anything else is done with it. What is kept names a
     private file.
  2. All other options (sslmode, sslrootcert, target_session_attrs, …) are passed through unchanged.
  3. A text that is no address is refused without repeating it: it may contain the password.

Not here: the files (daemon/fleet/host_files.py).
"""

from collections.abc import Mapping

import psycopg
from msgspec import Struct
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from headcount.store.fleet_interface import SharedUnavailable
from headcount.times import FLEET_CALL_WITHIN, FLEET_RENEW_EVERY

MS = 1000
DEFAULTS = {
    "tcp_user_timeout": str(int(FLEET_CALL_WITHIN * MS)),
    "keepalives_idle": str(int(FLEET_RENEW_EVERY)),  # who only listens must notice a dead line too
    "keepalives_interval": str(int(FLEET_CALL_WITHIN)),
    "keepalives_count": "3",
}
LINE_ENDS = ("\n", "\r", "\0")
WRITABLE = {"target_session_attrs": "read-write"}  # of several hosts, some may be standbys
PLACE = ("host", "hostaddr", "port", "dbname")
SHOWN = ("host", "hostaddr", "port", "dbname", "user", "sslmode")


class BadAddress(SharedUnavailable):
    pass


class Address(Struct, frozen=True):
    conninfo: str  # without a password
    password: str | None


def parse_address(text: str) -> Address:
    if not text.startswith(("postgresql://", "postgres://")) or not text.isprintable():
        raise BadAddress("An address is written postgresql://USER@HOST/DATABASE.")
    try:
        options = dict(conninfo_to_dict(text))
    except (psycopg.Error, UnicodeDecodeError):  # the driver's own, of what is escaped and no text
        raise BadAddress("That address cannot be read. It is postgresql://USER@HOST:PORT/DATABASE.") from None
    if _is_split_wrong(text, str(options.get("host") or ""), str(options.get("port") or "")):
        raise BadAddress(
            "That address cannot be read. In a password @ is written %40, / is %2F, : is %3A and ? is %3F: "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
        )
    password = options.pop("password", None)
    if password is not None and any(end in str(password) for end in LINE_ENDS):
        raise BadAddress("The password of that address holds a line end, which a password file cannot.")
    if not all(str(value).isprintable() for value in options.values()):
        raise BadAddress("That address holds what cannot be printed.")
    return Address(_joined(options), None if password is None else str(password))


def _is_split_wrong(text: str, host: str, port: str) -> bool:
    """A letter of the password was taken for a border of the address: part of it would be a host's name."""
    path = text.partition("://")[2].partition("?")[0].partition("/")[2]
    return "@" in host or "@" in path or not all(each.isdigit() for each in port.split(",") if each)


def with_passfile(conninfo: str, passfile: str | None) -> str:
    """As the driver gets it. What the address says wins over our defaults."""
    given = conninfo_to_dict(conninfo)
    several = "," in str(given.get("host") or given.get("hostaddr") or "")
    options: dict[str, str | int | None] = {**DEFAULTS, **(WRITABLE if several else {}), **given}
    if passfile is not None:
        options["passfile"] = passfile
    return _joined(options)


def _joined(options: Mapping[str, str | int | None]) -> str:
    return make_conninfo(**{name: str(value) for name, value in options.items() if value is not None})


def is_same_place(one: str, other: str) -> bool:
    """The same database, whoever comes in and however."""
    first, second = (conninfo_to_dict(each) for each in (one, other))
    return all(first.get(name) == second.get(name) for name in PLACE)


def shown(conninfo: str) -> str:
    """For people: where it is and as whom, nothing that opens it."""
    options = conninfo_to_dict(conninfo)
    return " ".join(f"{name}={options[name]}" for name in SHOWN if options.get(name))


def passfile_line(password: str) -> str:
    """The file is of this one address, so it fits whatever host of it answers."""
    escaped = password.replace("\\", "\\\\").replace(":", "\\:")
    return f"*:*:*:*:{escaped}\n"
