"""What OpenCode is known to keep in its database: columns of the tables that we read, and what stands in them.

Rules of this file
  1. Taken from what 1.18.33 wrote, and from the parts that its published SDK names.
  2. To be known is not to be used: most of it is passed over. What is not here is told by `doctor --drift`.

Not here: the fields of what our plugin tells (hooks.py).
"""

COLUMNS: dict[str, frozenset[str]] = {
    "session": frozenset({
        "id", "project_id", "workspace_id", "parent_id", "slug", "directory", "path", "title", "version", "share_url",
        "summary_additions", "summary_deletions", "summary_files", "summary_diffs", "metadata", "cost",
        "tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write", "revert",
        "permission", "agent", "model", "time_created", "time_updated", "time_compacting", "time_archived",
    }),
    "message": frozenset({"id", "session_id", "time_created", "time_updated", "data"}),
    "part": frozenset({"id", "message_id", "session_id", "time_created", "time_updated", "data"}),
}  # fmt: skip

MESSAGE_FIELDS = frozenset({
    "role", "time", "agent", "model", "summary", "parentID", "mode", "path", "cost", "tokens", "modelID", "providerID",
    "finish", "error", "system", "tools", "variant", "structured", "format",
})  # fmt: skip
ROLES = frozenset({"user", "assistant"})
FINISHES = frozenset({"stop", "tool-calls", "length", "content-filter", "error", "other", "unknown"})

PARTS = frozenset({
    "text", "reasoning", "tool", "file", "step-start", "step-finish", "snapshot", "patch", "agent", "retry",
    "compaction", "subtask",
})  # fmt: skip
TOOL_STATUSES = frozenset({"pending", "running", "completed", "error"})
