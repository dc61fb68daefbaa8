"""What Gemini CLI is known to write into its chats: records, fields, statuses.

Rules of this file
  1. Taken from what 0.61.0 wrote in recorded runs, and from what its program writes in the same place.
  2. To be known is not to be used: most of it is passed over. What is not here is told by `doctor --drift`.

Not here: the fields of hooks (hooks.py).
"""

TYPES = frozenset({"user", "gemini", "info", "error", "warning"})

FIELDS = frozenset({
    "id", "timestamp", "type", "content", "displayContent", "thoughts", "tokens", "model", "toolCalls",
    "sessionId", "projectHash", "startTime", "lastUpdated", "kind", "directories", "summary", "messages",
    "memoryScratchpad", "$set", "$rewindTo",
})  # fmt: skip
"""Of a message, of the first line, and of what `$set` sets."""

KINDS = frozenset({"main", "subagent"})
CALL_STATUSES = frozenset({
    "success", "error", "cancelled", "validating", "scheduled", "executing", "awaiting_approval",
})  # fmt: skip
PARTS = frozenset({
    "text", "functionCall", "functionResponse", "inlineData", "fileData", "thought", "thoughtSignature",
    "executableCode", "codeExecutionResult", "videoMetadata",
})  # fmt: skip
HOOK_TYPES = frozenset({"command"})
