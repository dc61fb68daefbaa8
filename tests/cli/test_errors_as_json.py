"""A wrong call with --json: the error is a document on stdout, and its code says the same as the exit code."""

import json
from pathlib import Path

import pytest

from headcount.cli.main import main


@pytest.mark.parametrize(
    "words",
    [
        ["ps", "/dev/null/none", "--json"],
        ["claim", "task:K", "--wait", "x", "--json"],
        ["hold", "task:K", "--json", "--"],
        ["hooks", "status", "--json", "--agent", "foo"],
        ["stop", "--json", "7f3a", "--kill-after", "x"],
        ["dance", "--json"],
    ],
)
def test_a_wrong_call_is_a_document_with_the_code_usage(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HEADCOUNT_HOME", str(tmp_path))
    try:
        code: object = main(words)
    except SystemExit as end:
        code = end.code
    said = capsys.readouterr()
    assert code == 2
    assert json.loads(said.out)["error"]["code"] == "usage"
    assert said.err.strip()


def test_without_json_nothing_is_on_stdout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HEADCOUNT_HOME", str(tmp_path))
    assert main(["ps", "/dev/null/none"]) == 2
    assert capsys.readouterr().out == ""
