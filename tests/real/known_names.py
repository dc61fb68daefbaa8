"""Names that the measured versions of the agents are known to write into their own files.

Rules
  1. A name is here because a version that these tests install wrote it, or because its program has that name for
     something it may write in that place. Headcount reads only a few of them.
  2. A name that is missing here fails a test: a new version writes something new. See whether an adapter should read
     it, then add it.

Not here: looking for unknown names (screen_and_unknown_fields.py); fields of hooks and of Claude Code's registry, which the daemon counts
(daemon/intake/unknown_events.py).
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


KNOWN: dict[str, dict[str, frozenset[str]]] = {
    "claude-code": {
        "record": _names("""
            agent-name ai-title api-request api-request-blob api-request-shape assistant atis-latch attachment
            cost-state custom-title file-history-snapshot last-prompt mode permission-mode queue-operation
            summary system:api_error system:away_summary system:bridge_status system:compact_boundary
            system:informational system:local_command system:stop_hook_summary system:turn_duration tools-used
            user
        """),
        "field": _names("""
            agentId agentName aiTitle apiBlockIndex apiErrorStatus apiErrorType atis attachment
            attributionAgent base cacheControl commandRun compactMetadata content customTitle cwd durationMs
            effort entrypoint error failedResponseHadNoToolCall gitBranch hasOutput hasUnknownModelCost hash
            hookAdditionalContext hookCount hookErrors hookInfos id interruptedMessageId isAbortedMidStream
            isApiErrorMessage isCompactSummary isMeta isSidechain isSnapshotUpdate isVisibleInTranscriptOnly
            keep lastPrompt leafUuid level logicalParentUuid madeBy message messageCount messageId mode
            modelUsage operation origin params parentUuid pendingBackgroundAgentCount perTurnEffort
            permissionDecision permissionMode preventedContinuation promptCacheRequested promptId promptSource
            querySource queueSkipAttachments queueTranscriptOnly rendered renderedBesideToolResult
            renderedRole requestDigest requestId requestRef requestedModel sandboxed sessionId session_id
            shape shapeHash slug snapshot sourceToolAssistantUUID sourceToolUseID startTime stopReason subtype
            summary tail timestamp toolDenialKind toolInputStreamMs toolUseID toolUseResult tools
            totalAPIDuration totalAPIDurationWithoutRetries totalCostUSD totalDuration totalLinesAdded
            totalLinesRemoved totalToolDuration turnOrigin turnPosition type userType uuid version
        """),
        "block": _names("""
            document image redacted_thinking server_tool_use text thinking tool_result tool_use
        """),
        "stop reason": _names("""
            end_turn max_tokens model_context_window_exceeded pause_turn refusal stop_sequence tool_use
        """),
        "permission mode": _names("acceptEdits auto bypassPermissions default dontAsk plan"),
    },
    "codex": {
        "field": _names("metadata ordinal payload timestamp type"),
        "line": _names("""
            compacted dynamic_tools_updated event_msg inter_agent_communication
            inter_agent_communication_metadata realtime_item response_item security_risk_score session_meta
            token_usage_record turn_context world_state
        """),
        "event": _names("""
            agent_message agent_reasoning agent_reasoning_raw_content collab_agent_interaction_begin
            collab_agent_interaction_end collab_agent_spawn_begin collab_agent_spawn_end collab_close_begin
            collab_close_end collab_resume_begin collab_resume_end collab_waiting_begin collab_waiting_end
            context_compacted dynamic_tool_call_request dynamic_tool_call_response entered_review_mode
            exec_command_end exited_review_mode guardian_assessment image_generation_end item_completed
            mcp_tool_call_end patch_apply_end plan_update shutdown_complete sub_agent_activity task_complete
            task_started thread_goal_updated thread_name_updated thread_rolled_back thread_settings_applied
            token_count turn_aborted user_message view_image_tool_call web_search_end
        """),
        "item": _names("""
            compaction compaction_trigger context_compaction custom_tool_call custom_tool_call_output
            function_call function_call_output ghost_snapshot image_generation_call local_shell_call message
            reasoning tool_search_call tool_search_output web_search_call
        """),
        "completed item": _names("""
            AgentMessage CollabAgentToolCall CommandExecution ContextCompaction DynamicToolCall
            EnteredReviewMode ExitedReviewMode Extension FileChange HookPrompt ImageGeneration ImageView
            McpToolCall Plan Reasoning SubAgentActivity UserMessage WebSearch
        """),
        "role": _names("assistant developer system user"),
    },
    "gemini": {
        "message": _names("error gemini info user warning"),
        "field": _names("""
            $rewindTo $set content directories displayContent id kind lastUpdated memoryScratchpad messages
            model projectHash sessionId startTime summary thoughts timestamp tokens toolCalls type
        """),
        "kind": _names("main subagent"),
        "call status": _names("awaiting_approval cancelled error executing scheduled success validating"),
        "part": _names("""
            codeExecutionResult executableCode fileData functionCall functionResponse inlineData text thought
            thoughtSignature videoMetadata
        """),
    },
    "opencode": {
        "column": _names("""
            message.data message.id message.session_id message.time_created message.time_updated part.data
            part.id part.message_id part.session_id part.time_created part.time_updated session.agent
            session.cost session.directory session.id session.metadata session.model session.parent_id
            session.path session.permission session.project_id session.revert session.share_url session.slug
            session.summary_additions session.summary_deletions session.summary_diffs session.summary_files
            session.time_archived session.time_compacting session.time_created session.time_updated
            session.title session.tokens_cache_read session.tokens_cache_write session.tokens_input
            session.tokens_output session.tokens_reasoning session.version session.workspace_id
        """),
        "message field": _names("""
            agent cost error finish format mode model modelID parentID path providerID role structured summary
            system time tokens tools variant
        """),
        "role": _names("assistant user"),
        "finish": _names("content-filter error length other stop tool-calls unknown"),
        "part": _names("""
            agent compaction file patch reasoning retry snapshot step-finish step-start subtask text tool
        """),
        "tool status": _names("completed error pending running"),
    },
}
