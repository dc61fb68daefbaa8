"""OpenCode: many conversations in one process, told by a plugin of ours."""
