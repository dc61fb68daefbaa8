"""What Codex is known to write into its rollouts: lines, events, items, fields.

Rules of this file
  1. Taken from what 0.166.0 wrote in recorded runs, and from the names that its program has for what it may write.
  2. To be known is not to be used: most of it is passed over. What is not here is told by `doctor --drift`.

Not here: the fields of hooks (hooks.py).
"""

FIELDS = frozenset({"timestamp", "type", "payload", "ordinal", "metadata"})
"""Of a line."""

LINES = frozenset({
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record",
    "dynamic_tools_updated", "inter_agent_communication", "inter_agent_communication_metadata", "security_risk_score",
    "realtime_item",
})  # fmt: skip

EVENTS = frozenset({
    "task_started", "task_complete", "turn_aborted", "item_completed", "token_count", "thread_settings_applied",
    "thread_name_updated", "thread_rolled_back", "thread_goal_updated", "user_message", "agent_message",
    "agent_reasoning", "agent_reasoning_raw_content", "entered_review_mode", "exited_review_mode",
    "context_compacted", "web_search_end", "mcp_tool_call_end", "patch_apply_end", "exec_command_end",
    "image_generation_end", "view_image_tool_call", "guardian_assessment", "sub_agent_activity",
    "dynamic_tool_call_request", "dynamic_tool_call_response", "collab_agent_spawn_begin", "collab_agent_spawn_end",
    "collab_agent_interaction_begin", "collab_agent_interaction_end", "collab_waiting_begin", "collab_waiting_end",
    "collab_close_begin", "collab_close_end", "collab_resume_begin", "collab_resume_end", "shutdown_complete",
    "plan_update",
})  # fmt: skip

ITEMS = frozenset({
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call", "image_generation_call", "tool_search_call", "tool_search_output",
    "ghost_snapshot", "compaction", "compaction_trigger", "context_compaction",
})  # fmt: skip

COMPLETED = frozenset({
    "UserMessage", "AgentMessage", "Reasoning", "CommandExecution", "FileChange", "McpToolCall", "WebSearch",
    "ImageView", "ImageGeneration", "Plan", "HookPrompt", "ContextCompaction", "EnteredReviewMode", "ExitedReviewMode",
    "SubAgentActivity", "CollabAgentToolCall", "DynamicToolCall", "Extension",
})  # fmt: skip
"""The kinds of `item_completed`."""

ROLES = frozenset({"user", "assistant", "developer", "system"})
HOOK_TYPES = frozenset({"command", "prompt", "agent"})
