"""A daemon whose gate asks for the token alone, and takes it from a cookie: the negative control of the page's door.

Rules of this file
  1. The daemon is the real one; what stands before its routes is replaced when its interpreter starts.
"""

import os
from pathlib import Path

from tests.rig.daemon.real_daemon import Daemon

TOKEN_ALONE = """
from headcount.daemon.http import request_checks as gate
gate._check_loopback = lambda request, loopback: None
gate._check_message = lambda request: None
from headcount.daemon.routes import dispatch as app
checked = app._check_credential
def by_cookie(service, request):
    sent = dict(request.headers).get(b"cookie", b"").decode("latin-1")
    cookie = sent.partition("credential=")[2]
    if not service.pages.credentials.admits("Bearer " + cookie):
        checked(service, request)
app._check_credential = by_cookie
"""


def naive_daemon(home: Path) -> Daemon:
    site = home / "site"
    site.mkdir(parents=True, exist_ok=True)
    (site / "sitecustomize.py").write_text(TOKEN_ALONE)
    return Daemon(home, PYTHONPATH=os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH")))))
