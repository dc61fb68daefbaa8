"""What comes in and what is looked for: mailbox, registry files, census, open conversations.

Enters: files, directories and processes.
Leaves: evidence in the loop's inbox.
"""
