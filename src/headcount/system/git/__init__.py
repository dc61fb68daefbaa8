"""Git: which repository a directory is in, and what work only that directory has.

Enters: directories.
Leaves: repository, worktree and branch; counts of unsaved work, or None if git does not answer.
"""
