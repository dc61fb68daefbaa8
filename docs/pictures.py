"""The pictures of the README, made from stand-in agents: `make pictures`.

Rules of this file
  1. Nobody's own agents are in a picture: everything runs in a process namespace of its own, with the demo's stand-ins,
     daemon and temporary directory.
  2. The page and the terminal UI are the real ones, looked at by a real browser and drawn by Textual. What happened in
     the last two hours is told by back-dated reports, since nobody waits two hours for a picture.
  3. What is made is committed under docs/img, so that a reader needs none of this.

Not here: the film of a recording (recording.py), the demo's stage (cli/actions/demo_sandbox.py).
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs import recording
from headcount.cli.actions.demo_sandbox import Stage, StandIn
from tests.rig.browser.chromium import Tab, chromium

HERE = Path(__file__).parent / "img"
INSIDE = "HEADCOUNT_PICTURES"
MINUTE = 60.0
DEMO = ("demo", "--seconds", "9")

CAST = {
    "auth-refactor": ("api", "auth-12"),
    "flaky-ci": ("web", "main"),
    "rate-limiter": ("gateway", "rl-7"),
    "i18n": ("shop", "i18n"),
    "bench-sqlite": ("core", "bench"),
    "docs-sweep": ("docs", "main"),
    "scratch": ("tmp", "main"),
}


def tool(name: str, **given: Any) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": given, "tool_use_id": "toolu_picture"}


def prompt() -> tuple[str, dict[str, Any]]:
    return "UserPromptSubmit", {"prompt": "go"}


def runs(command: str) -> tuple[str, dict[str, Any]]:
    return "PreToolUse", tool("Bash", command=command)


def edits(path: str) -> tuple[str, dict[str, Any]]:
    return "PreToolUse", tool("Edit", file_path=path)


def asks(command: str) -> tuple[str, dict[str, Any]]:
    return "PermissionRequest", tool("Bash", command=command)


def questions(text: str) -> tuple[str, dict[str, Any]]:
    return "PermissionRequest", tool(
        "AskUserQuestion", questions=[{"question": text, "header": text, "options": []}]
    )


def stops() -> tuple[str, dict[str, Any]]:
    return "Stop", {"stop_hook_active": False, "background_tasks": []}


START = ("SessionStart", {"source": "startup"})
PAST: dict[str, list[tuple[float, tuple[str, dict[str, Any]]]]] = {
    "auth-refactor": [(112, START), (111, prompt()), (110, edits("auth/login.py")), (84, asks("pytest -x")), (79, runs("pytest -x")),
                      (63, stops()), (51, prompt()), (50, edits("auth/tokens.py")), (4.2, asks("alembic upgrade head"))],
    "flaky-ci": [(64, START), (63, prompt()), (62, runs("gh run view --log-failed")), (31, stops()), (17, prompt()),
                 (16, edits("ci/retry.py")), (0.7, questions("Retry policy"))],
    "rate-limiter": [(98, START), (97, prompt()), (96, edits("limits/bucket.py")), (70, asks("make load")), (66, runs("make load")), (11, stops())],
    "i18n": [(118, START), (117, prompt()), (116, edits("locales/de.json")), (74, stops()), (58, prompt()), (57, edits("locales/fr.json"))],
    "bench-sqlite": [(43, START), (42, prompt()), (41, runs("make bench"))],
    "docs-sweep": [(88, START), (87, prompt()), (86, edits("docs/index.md")), (49, asks("make html")), (34, runs("make html")), (26, stops())],
    "scratch": [(105, START)],
}  # fmt: skip


def main() -> None:
    if INSIDE not in os.environ:
        _alone()
    HERE.mkdir(exist_ok=True)
    stage = Stage(os.environ)
    try:
        cast = {name: stage.enter(name, *where) for name, where in CAST.items()}
        _tell_the_past(stage, cast)
        _claim(stage, cast)
        asyncio.run(_terminal(stage))
        with chromium() as browser:
            for name, context in _looks():
                _picture(stage, browser, f"board-{name}", "board", "[data-session]", context)
            cast["i18n"].die()
            _until(lambda: _row(stage, cast["i18n"])["liveness"] == "ended")
            dark, light = (dict(_looks())[name] for name in ("dark", "light"))
            dead = _row(stage, cast["i18n"])["id"]
            _picture(stage, browser, "session-dark", f"session/{dead}", "h1, main h2", dark)
            for name, context in (("dark", dark), ("light", light)):
                low = {**context, "viewport": {"width": 1280, "height": 410}}
                _picture(stage, browser, f"timeline-{name}", "timeline", ".span", low)
            _pictures_of_drawings(browser)
    finally:
        stage.close()
    _film()
    for path in sorted(HERE.iterdir()):
        print(f"{path.relative_to(HERE.parents[1])}  {path.stat().st_size // 1024} KB")


def _alone() -> None:
    """Again, where no process of the house is to be seen."""
    who = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    words = ["unshare", *who, "--pid", "--fork", "--mount-proc", sys.executable, __file__]
    os.execvpe(words[0], words, {**os.environ, INSIDE: "1"})


def _tell_the_past(stage: Stage, cast: dict[str, StandIn]) -> None:
    """In the order of time, each report with the time that it speaks of."""
    now, mailbox = time.time(), Path(stage.client.places.mailbox)
    told = sorted((-minutes, name, report) for name, cues in PAST.items() for minutes, report in cues)
    for number, (before, name, (event, fields)) in enumerate(told):
        stand_in = cast[name]
        payload = {
            "session_id": stand_in.conversation,
            "cwd": str(stand_in.directory),
            "hook_event_name": event,
            "session_title": name,
            "model": "claude-sonnet-4-5",
            **fields,
        }
        stat = Path(f"/proc/{stand_in.pid}/stat").read_text()
        beside = mailbox / f".{number}"
        beside.write_text(stat + json.dumps(payload))
        os.utime(beside, (now + before * MINUTE, now + before * MINUTE))
        beside.rename(mailbox / f"{stand_in.pid}.{100_000 + number}")
        _until(lambda: not any(mailbox.glob("[0-9]*")))


def _claim(stage: Stage, cast: dict[str, StandIn]) -> None:
    for name, item, note in (
        ("auth-refactor", "task:AUTH-12", "login form"),
        ("i18n", "task:I18N-4", "French"),
        ("bench-sqlite", "port:5432", None),
        ("rate-limiter", "branch:gateway#rl-7", None),
    ):
        row = _row(stage, cast[name])
        stage.client.post("/v1/claims", {"item": item, "as": row["id"], "note": note})


def _row(stage: Stage, stand_in: StandIn) -> dict[str, Any]:
    rows = stage.client.get("/v1/sessions?all=1")["sessions"]
    return next(row for row in rows if row["conversation"] == stand_in.conversation)


def _until(look: Any, within: float = 20.0) -> None:
    deadline = time.monotonic() + within
    while not look():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def _looks() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "dark", {"color_scheme": "dark", "viewport": {"width": 1280, "height": 760}}
    yield "light", {"color_scheme": "light", "viewport": {"width": 1280, "height": 760}}
    yield (
        "phone",
        {"color_scheme": "dark", "viewport": {"width": 390, "height": 780}, "device_scale_factor": 2},
    )


def _picture(stage: Stage, browser: Any, name: str, view: str, wanted: str, context: dict[str, Any]) -> None:
    tab = Tab(browser, **context).open(stage.client.post("/v1/web")["url"])
    tab.page.goto(f"{tab.page.url.partition('#')[0]}#/{view}")
    tab.page.wait_for_selector(f"main {wanted}")
    tab.page.wait_for_timeout(400)  # fonts and the first deltas
    tab.page.screenshot(path=HERE / f"{name}.png")
    tab.close()


async def _terminal(stage: Stage) -> None:
    from headcount.tui.app import Headcount

    env = {**os.environ, "HEADCOUNT_HOME": str(stage.client.places.home)}
    app = Headcount(env)
    async with app.run_test(size=(110, 30)) as pilot:
        deadline = time.monotonic() + 20
        while len(app._rows) < len(CAST) and time.monotonic() < deadline:
            await pilot.pause(0.1)
        await pilot.press("n")
        await pilot.pause(1.0)
        (HERE / "tui.svg").write_text(app.export_screenshot(title="headcount"))


def _pictures_of_drawings(browser: Any) -> None:
    """Textual draws an SVG whose font is not everywhere: a picture of it looks the same to everybody."""
    drawing = HERE / "tui.svg"
    page = browser.new_page(viewport={"width": 1280, "height": 720}, device_scale_factor=2)
    page.set_content(f"<body style='margin:0;background:transparent'>{drawing.read_text()}</body>")
    page.locator("svg").screenshot(path=HERE / "tui.png", omit_background=True)
    page.close()
    drawing.unlink()


def _film() -> None:
    env = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "PYTHONPATH")}
    pieces = recording.record([sys.executable, "-m", "headcount", *DEMO], {**env, "LANG": "C.UTF-8"})
    command = f"headcount {' '.join(DEMO)}"
    (HERE / "demo.cast").write_text(recording.asciicast(pieces, command))
    (HERE / "demo.svg").write_text(recording.film(pieces, command))


if __name__ == "__main__":
    main()
