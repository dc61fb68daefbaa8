"""A shell that somebody pastes a suggested command into, with programs that only write down their words.

Use: `Shell(directory).paste(line)` gives what each program was called with. Anything that ran besides, or any file that
appeared, fails the test: the directory is empty, and a hostile word that is obeyed makes `CANARY` there.
"""

import re
import subprocess
from pathlib import Path

CANARY = "obeyed"
PROGRAMS = ("headcount", "tmux", "claude", "chmod", "code")
SHELLS = ("/bin/sh", "/bin/bash")

ACTS = (
    f"x && touch {CANARY}", f"x; touch {CANARY} #", f"$(touch {CANARY})", f"`touch {CANARY}`", f"x | touch {CANARY}",
    f"' ; touch {CANARY} ; '", f'" ; touch {CANARY} ; "', f"x & touch {CANARY}", f">{CANARY}", f"<(touch {CANARY})",
    f"${{x:=$(touch {CANARY})}}", f"x' && touch {CANARY} && echo '", f"\\' ; touch {CANARY} #", "!!", "*", "~", "$HOME",
    "%s%n", "\\047", "\\", "{a,b}", "a  b", "a\u3164b", "\u00e9\u0301\u0301\u0301", "❤\ufe0f", "naïve-任務",
)  # fmt: skip
"""What a shell would act on, what it would change, and what cannot be seen."""

_LABEL = re.compile(r"(?:^|: |Try |See: )(?=(?:headcount|tmux|cd|claude|chmod|code) )")


def suggested(text: str) -> list[str]:
    """The commands that a text suggests: each stands at the end of its line, behind its label and outside of quotes."""
    found = []
    for line in text.splitlines():
        labels = [each.end() for each in _LABEL.finditer(line) if line[: each.start()].count('"') % 2 == 0]
        found += [line[labels[0] :]] if labels else []
    return found


class Shell:
    def __init__(self, directory: Path) -> None:
        self.bin, self.cwd, self._said = directory / "bin", directory / "here", directory / "said"
        for each in (self.bin, self.cwd, self._said):
            each.mkdir(parents=True)
        for name in PROGRAMS:
            program = self.bin / name
            program.write_text(
                f'#!/bin/sh\nfor word in "{name}" "$@"; do printf "%s\\0" "$word"; done >{self._said}/words\n'
                f"pwd >{self._said}/cwd\n"
            )
            program.chmod(0o755)

    def paste(self, line: str, shell: str = SHELLS[0]) -> list[str]:
        for each in self._said.iterdir():
            each.unlink()
        assert "\n" not in line
        env = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": "/nowhere", "LC_ALL": "C.UTF-8"}
        done = subprocess.run([shell, "-c", line], cwd=self.cwd, env=env, capture_output=True, timeout=30)
        assert done.returncode == 0 and not done.stderr and not done.stdout, (line, done)
        assert not list(self.cwd.iterdir()), f"obeyed: {line}"
        return (self._said / "words").read_bytes().decode().split("\0")[:-1]

    @property
    def stood_in(self) -> str:
        """Where the last program was run."""
        return (self._said / "cwd").read_text().removesuffix("\n")
