"""A webhook: a signed POST to one address.

Rules of this file
  1. Signed over time and body, so that it can neither be made up nor sent again later; the same delivery has the
     same id when it is tried again, so that a receiver can drop the second.
  2. No redirect is followed and no proxy of the environment is used: it goes where the user wrote, or nowhere.
  3. The address and the secret are in no error: both may hold a credential.
  4. Blocks, with a deadline: for a thread.

Not here: trying again (daemon/observers/notification_channels.py), the body's content (daemon/observers/notification_channels.py).
"""

import hashlib
import hmac
from urllib.parse import urlsplit

from headcount.times import NOTICE_WITHIN


def signature(secret: str, sent_at: int, body: bytes) -> str:
    """`v1=…`: HMAC-SHA256 of `<unix time>.<body>`."""
    return "v1=" + hmac.new(secret.encode(), b"%d." % sent_at + body, hashlib.sha256).hexdigest()


def post(url: str, secret: str, body: bytes, *, sent_at: int, delivery: str) -> str | None:
    """None: it was taken (2xx). Else why not."""
    import http.client  # for those who have a webhook

    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "headcount",
        "Headcount-Delivery": delivery,
        "Headcount-Timestamp": str(sent_at),
    }
    if secret:
        headers["Headcount-Signature"] = signature(secret, sent_at, body)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection = kind(parts.hostname or "", parts.port, timeout=NOTICE_WITHIN)
        try:
            connection.request("POST", path, body, headers)
            status = connection.getresponse().status
        finally:
            connection.close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        return f"it could not be reached ({type(error).__name__})"
    return None if 200 <= status < 300 else f"it answered {status}"
