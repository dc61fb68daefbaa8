"""Message types of the HTTP interface, exit codes and refusal codes; one file per subject.

Enters: nothing.
Leaves: types that daemon, client and faces share. It knows nothing of core.
"""
