"""One file per verb: `add_arguments(parser)` and `run(args) -> exit code`. The list of verbs: cli/command_table.py.

Enters: parsed arguments.
Leaves: printed answers, an exit code.
"""
