"""The last lines of conversations of Codex, OpenCode and Gemini CLI, on what they really wrote; figures beside them."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.agents.codex.adapter import CODEX
from headcount.agents.gemini.adapter import GEMINI
from headcount.agents.interface import Agent
from headcount.agents.kit.transcripts import TEXT_MOST, ConversationLine
from headcount.agents.opencode.adapter import OPENCODE
from headcount.core.values.session import Spent

SAMPLES = Path(__file__).parents[2] / "rig" / "samples"
[CHAT] = (SAMPLES / "gemini" / "chats").iterdir()
ROLLOUT = next((SAMPLES / "codex" / "rollouts").glob("*5ead-7421-bca6-1cce74188e07.jsonl"))
THREAD = "01a1e22b-5ead-7421-bca6-1cce74188e07"
GEMINI_ID = "6dbb0a1d-ba82-4746-9fde-9aa806bec0d6"
MOST = 600 * 1024


def opencode(place: Path, *more: str) -> tuple[Path, str]:
    """The recorded database, closed, as OpenCode leaves it."""
    path = place / "opencode.db"
    made = sqlite3.connect(path)
    made.execute("PRAGMA journal_mode=WAL")
    made.executescript((SAMPLES / "opencode" / "database.sql").read_text())
    for each in more:
        made.execute(each)
    made.commit()
    [[id]] = made.execute("SELECT id FROM session").fetchall()
    made.close()
    return path, id


def copied(source: Path, place: Path) -> Path:
    path = place / source.name
    path.write_bytes(source.read_bytes())
    return path


def codex_sample(place: Path) -> tuple[Path, str]:
    return copied(ROLLOUT, place), THREAD


def gemini_sample(place: Path) -> tuple[Path, str]:
    return copied(CHAT, place), GEMINI_ID


EACH = [
    pytest.param(CODEX, codex_sample, id="codex"),
    pytest.param(GEMINI, gemini_sample, id="gemini"),
    pytest.param(OPENCODE, opencode, id="opencode"),
]
Sample = Callable[[Path], tuple[Path, str]]


def texts(said: list[ConversationLine] | None) -> list[tuple[str, str]]:
    assert said is not None
    return [(each.who, each.text) for each in said]


def test_codex_shows_what_its_terminal_showed(tmp_path: Path) -> None:
    shown = texts(CODEX.peek(*codex_sample(tmp_path), 100))
    assert shown[:2] == [("user", "hello there"), ("agent", "ok")]
    assert [text for who, text in shown if who == "tool"] == ["Bash: touch /tmp/zzz", "Bash: sleep 30"]
    assert not any("left out" in text for _, text in shown)  # what it tells the model itself


def test_gemini_shows_each_line_once_though_it_writes_it_again(tmp_path: Path) -> None:
    shown = texts(GEMINI.peek(*gemini_sample(tmp_path), 100))
    prompts = [text for who, text in shown if who == "user"]
    assert len(prompts) == len(set(prompts)) > 2 and not any("session_context" in text for text in prompts)
    assert [text for who, text in shown if who == "tool"] == [
        "ReadFolder: .",
        "Shell: touch abc",
        "Shell: touch abd",
    ]
    assert [text for who, text in shown if who == "agent"][:2] == ["done one", "done two"]
    plainly = [json.loads(row) for row in CHAT.read_text().splitlines()]  # the control
    assert sum('"text": "done one"' in json.dumps(row) for row in plainly) > 0


def test_opencode_shows_a_conversation_that_no_process_has_open(tmp_path: Path) -> None:
    path, id = opencode(tmp_path)
    shown = texts(OPENCODE.peek(path, id, 100))
    assert [who for who, _ in shown] == ["user", "tool", "agent"]
    assert shown[1:] == [("tool", "bash: echo hi"), ("agent", "well done")]
    assert OPENCODE.peek(path, "ses_nobody", 100) is None


def test_opencode_leaves_out_what_it_added_itself_and_what_is_huge(tmp_path: Path) -> None:
    part = "INSERT INTO part SELECT '{0}', message_id, session_id, 1, 1, '{1}' FROM part LIMIT 1"
    synthetic = json.dumps({"type": "text", "text": "ADDED", "synthetic": True})
    huge = json.dumps({"type": "text", "text": "x" * 100_000})
    path, id = opencode(tmp_path, part.format("prt_a", synthetic), part.format("prt_b", huge))
    shown = texts(OPENCODE.peek(path, id, 100))
    assert [who for who, _ in shown] == ["user", "tool", "agent"] and "ADDED" not in str(shown)


@pytest.mark.parametrize(("agent", "sample"), EACH)
def test_no_tool_result_is_shown_and_only_the_requested_number_of_lines(
    agent: Agent, sample: Sample, tmp_path: Path
) -> None:
    path, id = sample(tmp_path)
    whole = texts(agent.peek(path, id, 500))
    for secret in ("aborted by user", "Directory listing", "User denied", "Wall time"):
        assert secret not in str([text for who, text in whole if who != "user"])
    assert texts(agent.peek(path, id, 2)) == whole[-2:]


@pytest.mark.parametrize(("agent", "sample"), EACH)
def test_only_its_own_regular_file_is_read(agent: Agent, sample: Sample, tmp_path: Path) -> None:
    path, id = sample(tmp_path)
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / path.name).symlink_to(path)
    assert agent.peek(other / path.name, id, 5) is None
    (other / "passwords").write_bytes(path.read_bytes())
    assert agent.peek(other / "passwords", id, 5) is None
    (other / path.name).unlink()
    os.mkfifo(other / path.name)
    assert agent.peek(other / path.name, id, 5) is None
    assert agent.peek(tmp_path / "missing" / path.name, id, 5) is None


def bytes_read() -> int:
    return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the kernel does not count here")
@pytest.mark.parametrize(("agent", "sample"), EACH[:2])
def test_a_transcript_of_gigabytes_costs_no_more_than_its_end(
    agent: Agent, sample: Sample, tmp_path: Path
) -> None:
    """H5. The control: a hundredth of it, read as a whole, is far over the bound."""
    path, id = sample(tmp_path)
    end = path.read_bytes()
    with path.open("wb") as file:
        file.truncate(2 * 1024**3)
        file.seek(2 * 1024**3)
        file.write(b"\n" + end)
    before = bytes_read()
    assert len(texts(agent.peek(path, id, 20))) > 5
    assert bytes_read() - before < MOST
    with path.open("rb") as whole:
        whole.read(20 * 1024**2)
    assert bytes_read() - before > 10 * MOST


def test_a_long_text_is_cut(tmp_path: Path) -> None:
    item = {"type": "UserMessage", "content": [{"type": "text", "text": "x" * 100_000}]}
    path = tmp_path / ROLLOUT.name
    path.write_text(
        json.dumps({"type": "event_msg", "payload": {"type": "item_completed", "item": item}}) + "\n"
    )
    [(_, text)] = texts(CODEX.peek(path, THREAD, 5))
    assert len(text) < TEXT_MOST + 5 and text.endswith("…")


# --- figures ---------------------------------------------------------------------------------------------------


def test_codex_reports_context_window_and_totals(tmp_path: Path) -> None:
    seen = CODEX.glimpse(*codex_sample(tmp_path))
    assert seen is not None and (seen.context_tokens, seen.context_window) == (1200, 258400)
    assert seen.spent == Spent(3600, 102) and seen.version == "0.166.0"


@pytest.mark.parametrize(("agent", "sample"), EACH)
def test_a_model_has_the_time_of_its_answer(agent: Agent, sample: Sample, tmp_path: Path) -> None:
    seen = agent.glimpse(*sample(tmp_path))
    assert seen is not None and seen.model and seen.turned is not None
    assert seen.model_at is not None and 0 <= seen.turned.at - seen.model_at < 60


def test_opencode_reports_totals_also_after_the_session(tmp_path: Path) -> None:
    path, id = opencode(tmp_path)
    seen = OPENCODE.glimpse(path, id)
    assert seen is not None and (seen.model, seen.context_tokens) == ("fake", 1234)
    assert seen.spent == Spent(2468, 20) and seen.version == "1.18.33"
    (tmp_path / "priced").mkdir()
    priced, id = opencode(tmp_path / "priced", "UPDATE session SET cost = 0.25")
    seen = OPENCODE.glimpse(priced, id)
    assert seen is not None and seen.spent == Spent(2468, 20, 0.25)


def test_gemini_reports_context_and_no_totals(tmp_path: Path) -> None:
    seen = GEMINI.glimpse(*gemini_sample(tmp_path))
    assert seen is not None and seen.context_tokens == 1234 and seen.model == "gemini-3.1-pro-preview"
    assert (seen.spent, seen.context_window) == (None, None)
