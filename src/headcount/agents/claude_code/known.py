"""What Claude Code is known to write into its transcripts: record types, fields, blocks, statuses.

Rules of this file
  1. Taken from what 2.1.197 and 2.1.325 really wrote; a test runs both and finds nothing strange.
  2. To be known is not to be used: most of it is passed over. What is not here is told by `doctor --drift`.

Not here: the fields of hooks (hooks.py) and of the registry (registry.py).
"""

RECORDS = frozenset({
    "user", "assistant", "attachment", "summary", "mode", "permission-mode", "custom-title", "ai-title", "agent-name",
    "last-prompt", "queue-operation", "file-history-snapshot", "cost-state", "tools-used", "atis-latch",
    "api-request", "api-request-blob", "api-request-shape",
    "system:turn_duration", "system:compact_boundary", "system:local_command", "system:api_error",
    "system:informational", "system:bridge_status", "system:away_summary", "system:stop_hook_summary",
})  # fmt: skip
"""A record's type, with its subtype where it has one."""

FIELDS = frozenset({
    "type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "timestamp", "version",
    "cwd", "gitBranch", "userType", "entrypoint", "isSidechain", "isMeta", "slug", "level", "content", "message",
    "agentId", "agentName", "attributionAgent", "madeBy", "requestId", "requestRef", "requestedModel", "effort",
    "perTurnEffort", "apiBlockIndex", "apiErrorStatus", "apiErrorType", "error", "isApiErrorMessage",
    "isAbortedMidStream", "failedResponseHadNoToolCall", "promptCacheRequested", "toolInputStreamMs",
    "toolUseResult", "sourceToolAssistantUUID", "sourceToolUseID", "interruptedMessageId", "isCompactSummary",
    "isVisibleInTranscriptOnly", "origin", "permissionDecision", "permissionMode", "promptId", "promptSource",
    "queueSkipAttachments", "sandboxed", "turnOrigin", "turnPosition", "attachment", "rendered",
    "renderedBesideToolResult", "renderedRole", "atis", "base", "cacheControl", "id", "keep", "params", "querySource",
    "requestDigest", "shapeHash", "tail", "hash", "shape", "customTitle", "aiTitle", "mode", "lastPrompt", "leafUuid",
    "operation", "messageId", "snapshot", "isSnapshotUpdate", "tools", "hasUnknownModelCost", "modelUsage",
    "startTime", "totalAPIDuration", "totalAPIDurationWithoutRetries", "totalCostUSD", "totalDuration",
    "totalLinesAdded", "totalLinesRemoved", "totalToolDuration", "compactMetadata", "commandRun", "durationMs",
    "messageCount", "pendingBackgroundAgentCount", "summary", "hookCount", "hookInfos", "hookErrors",
    "hookAdditionalContext", "hasOutput", "preventedContinuation", "stopReason", "toolUseID", "queueTranscriptOnly",
    "toolDenialKind",
})  # fmt: skip

BLOCKS = frozenset({
    "text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "server_tool_use",
})  # fmt: skip

STOPS = frozenset({
    "end_turn", "tool_use", "pause_turn", "max_tokens", "stop_sequence", "refusal", "model_context_window_exceeded",
})  # fmt: skip

MODES = frozenset({"default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"})

HOOK_TYPES = frozenset({"command", "http", "prompt", "agent", "mcp_tool"})
