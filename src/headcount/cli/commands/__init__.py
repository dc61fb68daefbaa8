"""One file a verb: `add_arguments(parser)` and `run(args) -> exit code`. Which verbs: cli/verbs.py."""
