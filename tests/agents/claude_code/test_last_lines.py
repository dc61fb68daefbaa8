"""The last lines of a conversation, and what reading them costs."""

import json
import os
from pathlib import Path

import pytest

from headcount.agents.claude_code.transcript import MOST, TAIL, glimpse, peek
from headcount.agents.kit.safe_reading import read_end
from headcount.agents.kit.transcripts import ConversationLine

ID = "8acb4678-1111-4222-8333-0123456789ab"
AT = "2026-11-15T10:00:00.000Z"
SAMPLE = Path(__file__).parents[2] / "rig" / "samples" / "claude-code" / "transcript.jsonl"


def line(kind: str, content: object, **more: object) -> str:
    return json.dumps({"type": kind, "timestamp": AT, "message": {"content": content}, **more})


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / f"{ID}.jsonl"
    path.write_text("".join(f"{each}\n" for each in lines))
    return path


def texts(said: list[ConversationLine] | None) -> list[tuple[str, str]]:
    assert said is not None
    return [(each.who, each.text) for each in said]


def test_lines_show_the_speaker_and_the_tool(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        line("user", "please fix it\n\nand test it"),
        line(
            "assistant",
            [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "name": "Bash", "input": {"command": "make test"}},
            ],
        ),
        line("user", [{"type": "tool_result", "content": "SECRET OUTPUT"}]),
        line(
            "assistant",
            [{"type": "thinking", "thinking": "SECRET THOUGHT"}, {"type": "text", "text": "Done."}],
        ),
    )
    assert texts(peek(path, ID, 20)) == [
        ("user", "please fix it"),
        ("user", "and test it"),
        ("agent", "I look."),
        ("tool", "Bash: make test"),
        ("agent", "Done."),
    ]
    assert texts(peek(path, ID, 2)) == [("tool", "Bash: make test"), ("agent", "Done.")]


def test_lines_outside_the_conversation_are_left_out(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        line("user", "<system-reminder>do this</system-reminder>"),
        line("user", "<command-name>/model</command-name>"),
        line("user", "summary of before", isCompactSummary=True),
        line("assistant", [{"type": "text", "text": "from a subagent"}], isSidechain=True),
        line("user", "meta", isMeta=True),
        json.dumps({"type": "attachment", "content": "x"}),
        "{ torn",
    )
    assert texts(peek(path, ID, 20)) == []


def test_a_real_conversation_is_readable(tmp_path: Path) -> None:
    path = tmp_path / f"{ID}.jsonl"
    path.write_bytes(SAMPLE.read_bytes())
    assert ("tool", "Bash: echo hi") in texts(peek(path, ID, 200))


def test_a_long_text_is_cut(tmp_path: Path) -> None:
    [(who, text)] = texts(peek(written(tmp_path, line("user", "x" * 100_000)), ID, 20))
    assert who == "user" and len(text) < 5_000 and text.endswith("…")


@pytest.mark.parametrize("kind", ["other name", "link", "directory", "fifo", "missing"])
def test_only_a_regular_file_named_after_the_conversation_is_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"{ID}.jsonl"
    if kind == "other name":
        path = tmp_path / "passwords.jsonl"
        path.write_text(line("user", "secret"))
    elif kind == "link":
        (tmp_path / "target").write_text(line("user", "secret"))
        path.symlink_to(tmp_path / "target")
    elif kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    assert peek(path, ID, 20) is None


def bytes_read() -> int:
    """By this process so far, as the kernel counted them: proc_pid_io(5)."""
    return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])


def sparse(tmp_path: Path, size: int) -> Path:
    path = tmp_path / f"{ID}.jsonl"
    with path.open("wb") as file:
        file.truncate(size)
        file.seek(size)
        file.write(f"\n{line('user', 'the end')}\n".encode())
    return path


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the kernel does not count here")
def test_a_transcript_of_two_gigabytes_costs_no_more_than_its_end(tmp_path: Path) -> None:
    """H5. The control: read as a whole, even a hundredth of it is far over the bound."""
    path = sparse(tmp_path, 2 * 1024**3)
    own = bytes_read()
    own = bytes_read() - own  # what asking itself costs
    before = bytes_read()
    assert texts(peek(path, ID, 20)) == [("user", "the end")]
    assert bytes_read() - before <= MOST + 2 * own
    before = bytes_read()
    assert glimpse(path, ID) is not None
    assert bytes_read() - before <= TAIL + 2 * own

    small = sparse(tmp_path, 2 * 1024**3 // 100)
    before = bytes_read()
    assert small.read_bytes().endswith(b"\n")
    assert bytes_read() - before > 10 * MOST


def test_the_end_begins_with_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"first\nsecond\nthird\n")
    assert read_end(path, 10) == b"third\n"
    assert read_end(path, 1000) == b"first\nsecond\nthird\n"
