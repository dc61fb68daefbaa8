"""The page on the wire: a link for a person, a login for a tab, an end for all tabs.

Rules
  1. A link is made for the operator on the unix socket; the kernel says who that is.
  2. The login is the one route on loopback that needs no credential: it is where one comes from.

Not here: codes, credentials and the listener (daemon/http/page_access.py).
"""

from headcount.daemon.api.route import Call
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.times import PAGE_CREDENTIAL
from headcount.wire.web_page import PageClosed, PageCode, PageCredential, PageLink


async def open_page(call: Call) -> PageLink:
    try:
        url, plain_url = await call.parts.pages.open()
    except OSError as error:
        raise HttpRefusal(
            503,
            "no-port",
            f"The page's port cannot be had: {error.strerror or error}.",
            "Set another `web_port` in config.toml, or leave it out.",
        ) from None
    return PageLink(url=url, plain_url=plain_url)


async def close_page(call: Call) -> PageClosed:
    await call.parts.broadcast.dismiss_pages()
    return PageClosed(closed=await call.parts.pages.close())


async def log_in(call: Call) -> PageCredential:
    given = call.body(PageCode)
    credential = call.parts.pages.credentials.log_in(given.code)
    if credential is None:
        raise HttpRefusal(
            401,
            "bad-code",
            "This link was used before, is older than a minute, or is not from this daemon.",
            "For a new one: headcount web",
        )
    return PageCredential(credential=credential, seconds=PAGE_CREDENTIAL)
