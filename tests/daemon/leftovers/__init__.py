"""What ended sessions left: processes, panes, worktrees, records."""
