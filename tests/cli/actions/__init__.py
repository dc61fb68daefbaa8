"""What several commands share: claim keeper, git guard, remote hosts."""
