"""Write our entries into other tools' settings files, and take them out again.

Enters: a settings file and the entries it should have.
Leaves: a planned change, a diff, a replaced file; an unreadable file stays untouched.
"""
