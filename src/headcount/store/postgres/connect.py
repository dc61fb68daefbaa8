"""Connect to whichever host of the database's address answers.

Rules
  1. A host that swallows everything costs its share of the time, not all of it, and is tried last the next
     time: a second host is reached although the first is silent.
  2. Names are looked up in a daemonic thread: a name server that does not answer keeps no daemon from ending.
  3. Every transaction is READ COMMITTED, whatever the database's default is: what is read after waiting for a
     lock must be what is true then.

Not here: transactions and their deadlines (pool.py), what an address is (address.py).
"""

import asyncio
import contextlib
import ipaddress
import socket
import threading
from typing import Any

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict, make_conninfo

Row = tuple[Any, ...]  # the columns in the order of the query, which knows what each holds
Connection = psycopg.AsyncConnection[Row]
Place = dict[str, str]  # host, hostaddr and port, as far as they are known

PORT = "5432"
SHARES_MOST = 2  # no host has less than half of the time: a far one needs it


class Connector:
    def __init__(self, conninfo: str, within: float) -> None:
        self._conninfo = conninfo
        self._within = within
        self._places = places_of(conninfo)
        self._first = 0  # where it was open last, or behind where it was not

    async def open(self) -> Connection:
        """Raises `psycopg.Error` or `OSError`: what the last one said."""
        fault: Exception = psycopg.OperationalError("the address names no host")
        for nth in range(len(self._places)):
            at = (self._first + nth) % len(self._places)
            try:
                opened = await self._at(self._places[at])
            except (psycopg.Error, OSError) as error:
                fault = error
            except asyncio.CancelledError:
                self._first = (at + 1) % len(self._places)
                raise
            else:
                self._first = at
                return opened
        raise fault

    async def _at(self, place: Place) -> Connection:
        fault: Exception = psycopg.OperationalError(f"{place.get('host')} has no address")
        found = await _addresses(place)
        share = self._within / min(SHARES_MOST, max(len(self._places), len(found)))
        for each in found:
            try:
                async with asyncio.timeout(share):
                    return await self._knock(each)
            except TimeoutError:
                fault = psycopg.OperationalError(f"{each.get('host', 'it')} did not answer in time")
            except (psycopg.Error, OSError) as error:
                fault = error
        raise fault

    async def _knock(self, place: Place) -> Connection:
        connection: Connection = await psycopg.AsyncConnection.connect(
            make_conninfo(self._conninfo, **place),
            autocommit=True,
            prepare_threshold=None,
            application_name="headcount",
        )
        await connection.set_isolation_level(IsolationLevel.READ_COMMITTED)
        return connection


def places_of(conninfo: str) -> list[Place]:
    """One for each host of the address, as libpq pairs them: a single port is that of all hosts."""
    options = conninfo_to_dict(conninfo)
    given = {name: str(options.get(name) or "").split(",") for name in ("host", "hostaddr", "port")}
    count = max(len(given["host"]), len(given["hostaddr"]))
    return [
        {
            name: text
            for name, texts in given.items()
            if (text := texts[0] if len(texts) == 1 else dict(enumerate(texts)).get(nth, ""))
        }
        for nth in range(count)
    ]


async def _addresses(place: Place) -> list[Place]:
    """The same place with each of its addresses."""
    host = place.get("host", "")
    if not host or host.startswith(("/", "@")) or "hostaddr" in place:
        return [place]
    with contextlib.suppress(ValueError):
        return [{**place, "hostaddr": str(ipaddress.ip_address(host))}]
    found = await _looked_up(host, place.get("port", PORT))
    return [{**place, "hostaddr": each} for each in found]


async def _looked_up(host: str, port: str) -> list[str]:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def tell(found: list[str], fault: OSError | None) -> None:
        if answer.done():  # nobody waits any more
            return
        if fault is None:
            answer.set_result(found)
        else:
            answer.set_exception(fault)

    def look() -> None:
        found: list[str] = []
        fault: OSError | None = None
        try:
            known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
            found = list(dict.fromkeys(str(each[4][0]) for each in known))
        except OSError as error:
            fault = error
        except Exception as error:  # a name that is none: an encoding says so in its own way
            fault = OSError(f"{host} is no name of a host: {type(error).__name__}")
        with contextlib.suppress(RuntimeError):  # the loop is over
            loop.call_soon_threadsafe(tell, found, fault)

    threading.Thread(target=look, name="look up", daemon=True).start()
    return await answer
