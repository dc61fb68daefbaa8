"""The branches of a transcript that two processes wrote."""

import json
from pathlib import Path

from headcount.agents.claude_code.transcript_forks import TAIL, branches

CONVERSATION = "0b6f2f3e-0000-4000-8000-000000000001"


def write(directory: Path, *lines: tuple[str, str | None], **more: object) -> Path:
    path = directory / f"{CONVERSATION}.jsonl"
    rows = [
        {
            "type": "user",
            "uuid": uuid,
            "parentUuid": parent,
            "timestamp": f"2026-01-01T00:00:{n:02d}Z",
            **more,
        }
        for n, (uuid, parent) in enumerate(lines)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def leaves(path: Path, conversation: str = CONVERSATION) -> list[str]:
    return [each["leaf"] for each in branches(path, conversation)]


def test_one_writer_makes_one_leaf(tmp_path: Path) -> None:
    assert leaves(write(tmp_path, ("a", None), ("b", "a"), ("c", "b"))) == ["c"]


def test_two_writers_make_two_leaves(tmp_path: Path) -> None:
    assert leaves(write(tmp_path, ("a", None), ("b", "a"), ("x", "a"), ("c", "b"), ("y", "x"))) == ["c", "y"]


def test_a_final_note_of_the_cli_is_the_leaf(tmp_path: Path) -> None:
    path = write(tmp_path, ("a", None), ("b", "a"))
    with path.open("a") as file:
        file.write('{"type":"system","subtype":"turn_duration","uuid":"n","parentUuid":"b"}\n')
        file.write('{"type":"user","uuid":"x","parentUuid":"a"}\n{"type":"file-history-snapshot"}\n')
    assert leaves(path) == ["n", "x"]


def test_subagents_lines_and_damaged_lines_are_skipped(tmp_path: Path) -> None:
    path = write(tmp_path, ("a", None), ("b", "a"))
    with path.open("a") as file:
        file.write(
            '{"type":"user","uuid":"s","parentUuid":"a","isSidechain":true}\n{"type": broken\nnot json\n'
        )
        file.write('{"type":"user","uuid":7,"parentUuid":"a"}\n')
    assert leaves(path) == ["b"]


def test_a_transcript_with_another_name_or_a_missing_one_is_ignored(tmp_path: Path) -> None:
    path = write(tmp_path, ("a", None))
    assert leaves(path, "another") == [] and leaves(tmp_path / f"{CONVERSATION}.jsonl.gone") == []
    link = tmp_path / "link" / path.name
    link.parent.mkdir()
    link.symlink_to(path)
    assert leaves(link) == []


def test_a_long_transcript_is_read_from_its_end_only(tmp_path: Path) -> None:
    path = write(tmp_path, ("a", None), ("b", "a"), pad="x" * TAIL)
    with path.open("a") as file:
        file.write(
            '{"type":"user","uuid":"c","parentUuid":"b"}\n{"type":"user","uuid":"d","parentUuid":"b"}\n'
        )
    assert leaves(path) == ["c", "d"]
