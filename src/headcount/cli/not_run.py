"""A command that was to be run and could not be: said as shells say it, with their exit codes.

Not here: running it (cli/actions/start_agent.py, commands/hold.py).
"""

import sys

from headcount.cli.sanitize import clean

NO_SUCH_COMMAND = 127
CANNOT_RUN = 126


def no_such(name: str) -> int:
    print(
        f"headcount: there is no command {clean(name)}. Is it installed, and on your PATH?", file=sys.stderr
    )
    return NO_SUCH_COMMAND


def cannot_run(name: str, error: OSError) -> int:
    print(
        f"headcount: {clean(name)} cannot be run: {error.strerror}. Is it a program, and executable?",
        file=sys.stderr,
    )
    return CANNOT_RUN
