"""Write our entries into other tools' settings files, and take them out again.

Enters: a settings file, and the entries it should have.
Leaves: a planned change, which is shown or carried out. A file that cannot be understood stays untouched.
"""
