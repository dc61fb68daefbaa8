"""Moments and spans, as the wire writes them and as people read them.

Rules
  1. RFC 3339 in UTC on the wire; local time of day and spans for people.
  2. A moment that cannot be read is None, never now.

Not here: which moment a row counts from (session_words.py), constants (times.py).
"""

import time

from headcount import times

DIGITS_MOST = 15  # of a number; more is no time that anybody means, and too many are no number
UNITS = {"s": 1, "m": times.MINUTE, "h": times.HOUR, "d": times.DAY}


def parse(stamp: object) -> float | None:
    """Unix time of `2026-11-15T13:20:05.250Z` (datetime costs 3 ms of import, and this is one form)."""
    if not isinstance(stamp, str) or len(stamp) < 20 or not stamp.endswith("Z"):
        return None
    digits = (stamp[0:4], stamp[5:7], stamp[8:10], stamp[11:13], stamp[14:16], stamp[17:19])
    fraction = stamp[20:-1] or "0"
    if not all(part.isascii() and part.isdecimal() for part in (*digits, fraction)):
        return None
    year, month, day, hour, minute, second = map(int, digits)
    whole = _days(year, month, day) * times.DAY + hour * times.HOUR + minute * times.MINUTE + second
    return whole + float(f"0.{fraction}")


def stamp(moment: float) -> str:
    """The moment as the wire writes it."""
    whole, milliseconds = divmod(round(moment * 1000), 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{milliseconds:03d}Z"


def span(seconds: float) -> str:
    """38s, 4m, 2h, 3d."""
    whole = max(0, int(seconds))
    if whole < times.MINUTE:
        return f"{whole}s"
    if whole < times.HOUR:
        return f"{whole // times.MINUTE}m"
    if whole < times.DAY:
        return f"{whole // times.HOUR}h"
    return f"{whole // times.DAY}d"


def exact_span(seconds: float) -> str:
    """38s, 4m12s, 2h06m, 3d04h."""
    whole = max(0, int(seconds))
    if whole < times.MINUTE:
        return f"{whole}s"
    if whole < times.HOUR:
        return f"{whole // times.MINUTE}m{whole % times.MINUTE:02d}s"
    if whole < times.DAY:
        return f"{whole // times.HOUR}h{whole % times.HOUR // times.MINUTE:02d}m"
    return f"{whole // times.DAY}d{whole % times.DAY // times.HOUR:02d}h"


def parse_span(text: str) -> float | None:
    """Seconds of `90`, `90s`, `5m`, `2h`, `1d`, `1h30m`; None when it is none of these."""
    total, number = 0.0, ""
    for character in text:
        if character.isascii() and (character.isdecimal() or character == "."):
            number += character
            continue
        if not _is_number(number) or character not in UNITS:
            return None
        total += float(number) * UNITS[character]
        number = ""
    if not number:
        return total if text else None
    if number != text or not _is_number(number):  # a bare number is seconds; `1h30` is a slip
        return None
    return float(number)


def clock(moment: float, now: float) -> str:
    """The local time of day, with the date when it is not today."""
    then = time.localtime(moment)
    today = time.localtime(now)
    form = (
        "%H:%M:%S" if (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday) else "%Y-%m-%d %H:%M:%S"
    )
    return time.strftime(form, then)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal() and len(text) <= DIGITS_MOST


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of the Gregorian calendar, counted from March so that leap days come last."""
    year -= month <= 2
    since_march = (month + 9) % 12
    return (
        365 * year + year // 4 - year // 100 + year // 400 + (153 * since_march + 2) // 5 + day - 1 - 719_468
    )
