"""What ends something, on the page with a real daemon: asked twice, done once, and told as it went."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.rig.agents.stand_in import Agent
from tests.rig.browser.chromium import Tab, chromium
from tests.rig.browser.page_with_daemon import EDITS, PROMPT, Scene
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.leftovers.leave_processes import left_by


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def scene(daemon: Daemon, browser: Browser, tmp_path: Path, agent: Callable[..., Agent]) -> Iterator[Scene]:
    made = Scene(daemon, browser, tmp_path, agent)
    yield made
    made.close()


def found(scene: Scene, id: str, count: int) -> None:
    """That many processes of it are known to be left."""
    eventually(
        lambda: (
            len(
                [each for each in scene.daemon.get(f"/v1/leftovers?session={id}")["leftovers"] if each["pid"]]
            )
            >= count
        )
    )


def left_row(tab: Tab, pid: int) -> Locator:
    """Of that process: other agents of this machine may leave something too."""
    return tab.page.locator("[data-leftover='process']").filter(has_text=f"{pid} ")


def test_what_a_dead_agent_left_is_listed_as_the_command_line_lists_it(scene: Scene, repo: Path) -> None:
    claude, id = scene.agent("i18n", PROMPT, cwd=repo)
    (repo / "open").write_text("work that is nowhere else")
    with left_by(claude) as left:
        claude.kill()
        found(scene, id, 1)
        eventually(lambda: scene.daemon.get("/v1/leftovers?kind=worktree")["leftovers"])
        tab = scene.show(scene.tab(), "leftovers")
        process = left_row(tab, left.pid)
        expect(process.locator(".what")).to_contain_text(f"{left.pid} ")
        expect(process.locator(".fence")).to_contain_text("MB")
        expect(process.locator(".note")).to_contain_text("in its environment")
        expect(process.locator(".note")).not_to_contain_text("[")
        expect(process).to_contain_text(f"headcount reap {id[:8]} --yes")
        worktree = tab.page.locator("[data-leftover='worktree']")
        expect(worktree).to_contain_text("uncommitted")
        expect(worktree).to_contain_text("never deleted by us")
        expect(worktree.locator("button")).to_have_count(0)
        expect(tab.page.locator("footer")).to_contain_text("left behind, ")  # and how much memory that holds
        assert tab.faults() == []


def test_leftovers_are_ended_after_a_second_word_and_who_ignores_it_is_told(scene: Scene) -> None:
    claude, id = scene.agent("i18n", PROMPT)
    with left_by(claude) as obeys, left_by(claude, traps=("SIGTERM",)) as stays:
        claude.kill()
        found(scene, id, 2)
        tab = scene.show(scene.tab(), "leftovers")
        left_row(tab, obeys.pid).locator("button").click()
        dialog = tab.page.locator("[role=alertdialog]")
        expect(dialog).to_contain_text(f"headcount reap {id[:8]} --yes")
        for each in (obeys, stays):
            expect(dialog).to_contain_text(f"{each.pid} ")
        tab.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert not obeys.has_ended()
        left_row(tab, obeys.pid).locator("button").click()
        dialog.locator("button.danger").click()
        notice = tab.page.locator(".notice.bad")
        expect(notice).to_contain_text(f"(pid {obeys.pid}, left by {id[:4]}) exited", timeout=15_000)
        expect(notice).to_contain_text(
            f"(pid {stays.pid}, left by {id[:4]}) ignored SIGTERM and is still alive"
        )
        expect(notice).to_contain_text("--kill-after")
        assert obeys.has_ended() and not stays.has_ended()
        expect(left_row(tab, obeys.pid)).to_have_count(0)
        expect(left_row(tab, stays.pid)).to_have_count(1)


def test_an_agent_is_stopped_after_a_second_word_and_its_end_is_told(scene: Scene) -> None:
    claude, id = scene.agent("auth", PROMPT, EDITS)
    _, other = scene.agent("other", PROMPT)
    tab = scene.tab()
    tab.row(id, " > a").click()
    button = tab.page.locator(".actions button:has-text('Stop')")
    button.click()
    dialog = tab.page.locator("[role=alertdialog]")
    expect(dialog).to_contain_text(f"headcount stop {id[:8]}")
    tab.page.keyboard.press("Enter")  # by habit: "Leave it" has the focus
    expect(dialog).to_have_count(0)
    assert claude.process.poll() is None
    button.click()
    dialog.locator("button.danger").click()
    expect(tab.page.locator(".notice")).to_contain_text(f"{id[:4]} auth (pid {claude.pid}) exited")
    claude.process.wait(10)
    expect(tab.page.locator("article.session")).to_have_attribute("data-liveness", "ended")
    assert scene.daemon.session(id=other)["liveness"] == "alive"
    expect(tab.page.locator(".events")).to_contain_text("SIGTERM to")
    assert tab.faults() == []


def test_an_agent_that_ignores_the_signal_is_not_said_to_be_stopped(scene: Scene) -> None:
    claude, id = scene.agent("stubborn", PROMPT)
    claude.run("trap '' TERM; true")
    tab = scene.show(scene.tab(), f"session/{id}")
    tab.page.locator(".actions button:has-text('Stop')").click()
    tab.page.locator("[role=alertdialog] button.danger").click()
    notice = tab.page.locator(".notice.bad")
    expect(notice).to_contain_text("ignored SIGTERM and is still alive", timeout=15_000)
    expect(notice).to_contain_text(f"headcount stop {id[:8]} --kill-after 5")
    assert claude.process.poll() is None


def test_a_death_is_told_with_what_it_freed_and_left_and_how_to_go_on(scene: Scene) -> None:
    claude, id = scene.agent("i18n", PROMPT, EDITS)
    scene.claim(claude, "task:I18N-4")
    with left_by(claude):
        claude.kill()
        found(scene, id, 1)
        tab = scene.show(scene.tab(), f"session/{id}")
        events = tab.page.locator(".events")
        expect(events).to_contain_text("killed (SIGKILL) after")
        expect(events).to_contain_text("task:I18N-4 is free: its holder")
        expect(events).to_contain_text("freed task:I18N-4; left 1 process. To go on: headcount resume")
        assert events.inner_text().count("killed (SIGKILL)") == 1
        expect(tab.page.locator(".command code").first).to_have_text(f"headcount resume {id[:8]}")
        expect(tab.page.locator("article")).to_contain_text(f"claude --resume {claude.conversation}")
