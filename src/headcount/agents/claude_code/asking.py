"""What Claude Code may ask the daemon, when its user opted in: before an edit, and at a start.

Rules of this file
  1. One row a question: the event, the tools it is for. The installer and the docs read it.

Not here: the line and what an install asks for (agents/ask_line.py), the answers (daemon/routes/guard.py,
context.py).
"""

from headcount.agents.ask_line import CONTEXT, GUARD, Questions
from headcount.agents.claude_code.reports import EDITING_TOOLS

QUESTIONS: Questions = {
    GUARD: ("PreToolUse", "|".join(EDITING_TOOLS)),
    CONTEXT: ("SessionStart", None),
}
