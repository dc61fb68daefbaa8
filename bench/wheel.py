"""The project as its users have it: a wheel in an environment of its own, bytecode compiled.

Rules of this file
  1. Dependencies are taken from the environment that runs the bench, so nothing is downloaded.
  2. Nothing of the caller's environment reaches what is measured.
"""

import compileall
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Install:
    python: Path
    headcount: Path

    def env(self, home: Path) -> dict[str, str]:
        user = home / "user"
        user.mkdir(parents=True, exist_ok=True)
        return {"PATH": os.defpath, "HOME": str(user), "HEADCOUNT_HOME": str(home), "LANG": "C.UTF-8"}


def install(directory: Path) -> Install:
    venv = directory / "venv"
    _run(sys.executable, "-m", "venv", "--without-pip", str(venv))
    wheels = directory / "wheels"
    offline = ["--no-deps", "--no-build-isolation"] if _has_backend() else ["--no-deps"]
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", *offline, "-w", str(wheels), str(ROOT))
    (wheel,) = wheels.glob("headcount-*.whl")
    _run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(venv / "bin/python"),
        "install",
        "--quiet",
        "--no-deps",
        str(wheel),
    )
    site = next((venv / "lib").glob("python*/site-packages"))
    dependencies = Path(msgspec.__file__).parents[1]
    (site / "bench-dependencies.pth").write_text(f"{dependencies}\n")
    for place in (site, dependencies):
        compileall.compile_dir(str(place), quiet=2)
    return Install(venv / "bin/python", venv / "bin/headcount")


def _has_backend() -> bool:
    try:
        import hatchling  # noqa: F401
    except ImportError:
        return False
    return True


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
