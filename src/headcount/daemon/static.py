"""The page's own files, as they came with the package: served at the page's own names, without a credential.

Rules of this file
  1. A path is looked up in a table of the files that exist. No path is ever opened because somebody asked for it.
  2. They hold nothing of anybody's: what a page shows comes over the wire, behind a credential.

Not here: who gets in (daemon/http/request_checks.py), headers that confine the page (daemon/http/request_checks.py).
"""

from functools import cache
from pathlib import Path

import headcount

PLACE = Path(headcount.__file__).parent / "web" / "static"

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}

File = tuple[bytes, str]


@cache
def files() -> dict[str, File]:
    """By path on the page's server. Read once: an upgrade restarts the daemon anyway."""
    found = {
        f"/{path.relative_to(PLACE).as_posix()}": (path.read_bytes(), TYPES[path.suffix])
        for path in sorted(PLACE.rglob("*"))
        if path.suffix in TYPES
    }
    found["/"] = found["/index.html"]
    return found
