"""Verbs from the keyboard: what a key does to a session is what the verb of that name does.

Rules of this file
  1. The verb itself runs, as a child with our environment: same rights, same checks, same words.
  2. Its answer is one line, cleaned. It never reads the keyboard.

Not here: keys and second presses (app.py), what the verb does (cli/commands).
"""

import subprocess
import sys

from headcount.present.clean_text import clean
from headcount.times import TUI_VERB_WITHIN


def run_verb(verb: str, session: str) -> str:
    """Blocks: for a thread. What the verb said, or why it said nothing."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "headcount", verb, "--", session],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TUI_VERB_WITHIN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{verb} takes long; see: headcount log"
    said = [line for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
    return clean("  ".join(said[:2])) or f"{verb}: done"
