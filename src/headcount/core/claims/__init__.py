"""Rules about claims: who may hold an item, and who gets it next.

Enters: requests about items, deaths of holders.
Leaves: grants, refusals, places in the queue, freed items in a draft.
"""
