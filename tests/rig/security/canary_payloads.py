"""Where a secret can stand in what an agent reports: one payload each, around a canary.

Rules of this file
  1. Each is a place that a real hook payload has, or a form in which secrets stand in commands. What people are shown by
     design (a name that somebody gave, the plain words of a command) is none of them.

Not here: delivering them, looking for them (tests/campaign/security/canaries.py).
"""

from collections.abc import Callable
from typing import Any

Fields = dict[str, Any]
Payload = tuple[str, Fields]  # event, fields


def _bash(form: str) -> Callable[[str], Payload]:
    return lambda c: ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": form.replace("%", c)}})


def _tool(name: str, given: Callable[[str], Fields]) -> Callable[[str], Payload]:
    return lambda c: ("PreToolUse", {"tool_name": name, "tool_input": given(c)})


PAYLOADS: dict[str, Callable[[str], Payload]] = {
    "a prompt": lambda c: ("UserPromptSubmit", {"prompt": f"log in with {c} please"}),
    "a file's content": _tool("Write", lambda c: {"file_path": "/srv/a.py", "content": f"KEY = '{c}'"}),
    "an edit": _tool("Edit", lambda c: {"file_path": "/srv/a.py", "old_string": c, "new_string": f"{c}!"}),
    "a notebook's cell": _tool("NotebookEdit", lambda c: {"notebook_path": "/srv/a.ipynb", "new_source": c}),
    "a tool's output": lambda c: ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {"stdout": c, "stderr": c}}),
    "a tool's failure": lambda c: ("PostToolUseFailure", {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": f"Exit 1: {c}"}),
    "a variable before a command": _bash("API_KEY=% ./deploy"),
    "an exported variable": _bash("export DB_PASSWORD='%' && make migrate"),
    "a quoted variable": _bash('MY_THING="two words %" make'),
    "an option": _bash("deploy --token % --now"),
    "an option with a sign": _bash("deploy --client-secret=% --now"),
    "a bearer header": _bash("curl -H 'Authorization: Bearer %' https://api.test/v1"),
    "a key header": _bash('curl -H "X-Api-Key: %" https://api.test/v1'),
    "a cookie": _bash("curl -H 'Cookie: session=%' https://api.test/v1"),
    "a login of curl": _bash("curl -u me:% https://api.test/v1"),
    "a login in full": _bash("curl --user me:% https://api.test/v1"),
    "a password of a postgres address": _bash("psql postgresql://me:%@db.test:5432/prod -c 'select 1'"),
    "a login in an address": _tool("WebFetch", lambda c: {"url": f"https://me:{c}@api.test/", "prompt": c}),
    "an address's query": _tool("WebFetch", lambda c: {"url": f"https://api.test/x?token={c}#{c}", "prompt": "read"}),
    "a key known by its form": _bash("echo sk-ant-% | login"),
    "a github token": _bash("git push https://ghp_%@github.test/x.git"),
    "a JSON body": _bash("""curl -d '{"password": "%"}' https://api.test/v1"""),
    "a password of mysql": _bash("mysql -u root -p% prod"),
    "sshpass": _bash("sshpass -p % ssh me@host"),
    "a pattern that is looked for": _tool("Grep", lambda c: {"pattern": f"API_KEY={c}"}),
    "a web search": _tool("WebSearch", lambda c: {"query": f"what is wrong with --api-key={c}"}),
    "a subagent's prompt": _tool("Task", lambda c: {"description": "look around", "prompt": c}),
    "a subagent's title": _tool("Agent", lambda c: {"description": f"deploy with DEPLOY_TOKEN={c}", "prompt": c}),
    "an MCP tool's input": _tool("mcp__db__query", lambda c: {"sql": f"select '{c}'"}),
    "the input of an unknown tool": _tool("BrandNewTool", lambda c: {"command": c, "anything": [c]}),
    "a question": _tool("AskUserQuestion", lambda c: {"questions": [{"header": "Which", "question": f"{c}?", "options": [{"label": c, "description": c}]}]}),
    "a plan": _tool("ExitPlanMode", lambda c: {"plan": f"1. use {c}"}),
    "a permission's input": lambda c: ("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": f"SECRET={c} make"}, "permission_suggestions": [c]}),
    "the last answer": lambda c: ("Stop", {"last_assistant_message": f"I used {c}."}),
    "a background command": lambda c: ("Stop", {"background_tasks": [{"id": "b1", "type": "shell", "status": "running", "command": f"TOKEN={c} npm run dev"}]}),
    "a notification": lambda c: ("Notification", {"message": f"needs {c}", "title": c}),
    "what a compaction is told": lambda c: ("PreCompact", {"trigger": "manual", "custom_instructions": c}),
    "a compaction's summary": lambda c: ("PostCompact", {"trigger": "auto", "compact_summary": c}),
    "an elicitation": lambda c: ("Elicitation", {"mcp_server_name": "db", "message": c, "requested_schema": {"x": c}}),
    "the name of a branch": lambda c: ("SessionStart", {"source": "startup", "session_title": f"use {c} (Branch 2)"}),
    "the name of a fork": lambda c: ("UserPromptSubmit", {"prompt": c, "session_title": f"auth \u2442 use {c}"}),
    "a subagent that is described by its prompt": lambda c: ("Stop", {"background_tasks": [{"id": f"a{c}-547a8bc07c0221d4", "type": "subagent", "status": "running", "description": c, "agent_type": "fork"}]}),
    "the id of a subagent": lambda c: ("SubagentStart", {"agent_id": f"a{c}-547a8bc07c0221d4", "agent_type": "fork"}),
    "a limit's message": lambda c: ("StopFailure", {"error": "rate_limit", "last_assistant_message": f"it resets {c}"}),
    "a failure that is a sentence": lambda c: ("StopFailure", {"error": f"cannot use {c}"}),
    "a failure's details": lambda c: ("StopFailure", {"error": "server_error", "error_details": c, "last_assistant_message": c}),
    "an unknown field": lambda c: ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "make"}, "brand_new": {"deep": [c]}}),
    "an unknown event": lambda c: ("BrandNewEvent", {"said": c, "prompt": c}),
}  # fmt: skip
