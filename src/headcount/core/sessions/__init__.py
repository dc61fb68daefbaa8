"""Rules about sessions: which one evidence belongs to, and what it changes.

Enters: reports, registry records, found processes, registrations.
Leaves: started, changed and ended sessions in a draft.
"""
