"""Which conversations an OpenCode process has open, without our plugin.

Rules of this file
  1. Its database is one file for all its processes, and holds no pid: it names nobody's conversation. Directory and
     "the newest" are not asked (accidents I2, I4).
  2. What it was started with does: `--session ID`, unless that was to be copied.

Not here: what the plugin tells (reports.py).
"""

from headcount.agents.fields import id_of
from headcount.agents.interface import Hosted
from headcount.agents.opencode.database import FILE
from headcount.core.open_files import OpenFiles
from headcount.core.values.process import ProcessFacts

ID = "ses_"


def hosted(facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...] | None:
    conversation = _resumed(facts.argv)
    if conversation is None:
        return None  # it may have many open, or none: its files do not say
    database = next((file.path for file in files if file.path.endswith(f"/{FILE}")), None)
    return (Hosted(conversation, database, "command line", facts.cwd, beside=True),)


def _resumed(argv: tuple[str, ...]) -> str | None:
    if "--fork" in argv or "--" in argv:
        return None
    for nth, word in enumerate(argv):
        if word in ("-s", "--session"):
            return _id(argv[nth + 1]) if nth + 1 < len(argv) else None
        if word.startswith("--session="):
            return _id(word.partition("=")[2])
    return None


def _id(text: str) -> str | None:
    return id_of(text) if text.startswith(ID) else None
