"""Labels: the short line that shows what an agent is doing.

Rules
  1. A label is one line of at most LABEL characters, without control characters, without halves of
     surrogate pairs, without characters that turn the direction of text.
  2. Anything that looks like a secret is replaced before the label is cut, so that no half of one remains.
  3. Only the beginning of a long text is read, so a label costs the same for a line and for a megabyte.

Not here: which part of an event becomes the label (the adapters).
"""

import re

LABEL = 80  # fits the widest DOING column; more is not read
_LOOKED_AT = 600  # a secret that begins inside the first LABEL characters is wholly replaced

_UNPRINTABLE = re.compile(
    "[\x00-\x20\x7f-\xa0\u061c\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+"
)
_NOT_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_VALUE = r"""(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|\$\([^)]*\)?|[^\s;&|"']+)"""
_NAMED = re.compile(
    r"(?i)(?<![a-z0-9_-])([a-z0-9_-]{0,40}?(?:passw(?:or)?d|passphrase|secret|token|api[-_]?key|credential)[a-z0-9_-]{0,40})"
    r"(['\"]?\s*[=:]\s*|\s+(?!\*))" + _VALUE
)
_KEYS = ("sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AKIA",
         "ASIA", "AIza", "eyJ", "npm_", "hf_")  # fmt: skip
_BARE = re.compile(r"\b(?:" + "|".join(_KEYS) + r")[A-Za-z0-9_.-]{8,}")
_SCHEME = re.compile(r"(?i)\b(bearer|basic|token)\s+[A-Za-z0-9._~+/=-]{6,}")
_HEADER = re.compile(r"(?i)\b(authorization|x-[a-z-]{0,40}(?:key|token)|cookie)\s*:\s*[^'\"]+")
_ASSIGNED = re.compile(r"\b([A-Z][A-Z0-9_]*)=" + _VALUE)
_IN_URL = re.compile(r"://[^\s/@:]+:[^\s/@]+@")
_LOGIN = re.compile(r"(\s(?:-u|-U|--user|--proxy-user)[\s=]*['\"]?[^\s:%'\"]+)[:%][^\s'\"]+")
_BY_LETTER = re.compile(
    r"\b((?:mysql\w*|mariadb[\w-]*|sshpass|redis-cli|(?:docker|podman)\s+login)\b[^;|&]*?\s-[pa]\s*)" + _VALUE
)
_BY_LETTER_SIGNS = ("mysql", "mariadb", "sshpass", "redis-cli", " login")


def one_line(text: str, limit: int = LABEL) -> str:
    """The beginning of a text as one printable line."""
    if len(text) <= limit and text.isprintable():
        return text.strip()
    line = _UNPRINTABLE.sub(" ", text[: limit * 4]).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def path_line(path: str, limit: int = LABEL) -> str:
    """A path as one printable line; a long one keeps its end."""
    line = _UNPRINTABLE.sub(" ", path[-limit * 4 :]).strip()
    return line if len(line) <= limit else "…" + line[-(limit - 1) :].lstrip()


def tool_line(tool: str, value: object) -> str:
    """ "Bash: npm test", without what looks like a secret; a tool whose value is no text is shown by its name alone."""
    if not isinstance(value, str) or not value.strip():
        return one_line(tool)
    return one_line(f"{tool}: {redacted(value)}")


def tool_path(tool: str, path: object, directory: object) -> str:
    """ "Edit: src/app.ts": a path inside the session's directory is shown relative to it."""
    if not isinstance(path, str) or not path.strip():
        return one_line(tool)
    prefix = f"{directory.rstrip('/')}/" if isinstance(directory, str) and directory else None
    shown = path.removeprefix(prefix) if prefix is not None else path
    return f"{tool}: {path_line(shown, LABEL - len(tool) - 2)}"


def redacted(command: str) -> str:
    """A command without what looks like a secret; only its beginning. Each pattern is tried only when a plain
    search finds its sign: most commands have none, and this runs for every tool call of every agent."""
    text = command[:_LOOKED_AT]
    small = text.lower()
    if "bearer" in small or "basic" in small or "token" in small:
        text = _SCHEME.sub(r"\1 ***", text)
    if ":" in text and ("author" in small or "x-" in small or "cookie" in small):
        text = _HEADER.sub(r"\1: ***", text)
    if "=" in text:
        text = _ASSIGNED.sub(r"\1=***", text)
    if "pass" in small or "secret" in small or "token" in small or "key" in small or "credential" in small:
        text = _NAMED.sub(_keep_name, text)
    if "://" in text and "@" in text:
        text = _IN_URL.sub("://***@", text)
    if " -u" in small or "-user" in text:
        text = _LOGIN.sub(r"\1:***", text)
    if (" -p" in text or " -a" in text) and any(sign in text for sign in _BY_LETTER_SIGNS):
        text = _BY_LETTER.sub(r"\1***", text)
    if any(key in text for key in _KEYS):
        text = _BARE.sub("***", text)
    return text


def plain(value: object, limit: int = 4096) -> str | None:
    """A foreign value as plain text to store (a directory, a model), or nothing if it is not such text."""
    if not isinstance(value, str) or not value or len(value) > limit:
        return None
    return value if value.isprintable() or _NOT_TEXT.search(value) is None else None


def _keep_name(match: re.Match[str]) -> str:
    name, gap = match.group(1), match.group(2)
    if gap.isspace() and not name.startswith("-"):
        return match.group(0)  # prose ("rotate token now"), not an option and its value
    return f"{name}{gap}***"
