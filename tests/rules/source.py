"""What the rule tests read: the project's own files, as trees and as text.

Rules of this file
  1. Only files that belong to the project: those that git tracks, or all but the built ones where there
     is no git (an unpacked archive is tested too).
"""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "headcount"
NOT_OURS = frozenset(
    {".git", ".venv", "build", "dist", "__pycache__", ".hypothesis", ".mypy_cache", ".ruff_cache"}
)


@cache
def project_files() -> tuple[Path, ...]:
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout.decode()
        paths = [ROOT / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path for path in ROOT.rglob("*") if not NOT_OURS & set(path.relative_to(ROOT).parts)]
    return tuple(sorted(path for path in paths if path.is_file()))


@cache
def modules() -> tuple[Path, ...]:
    return tuple(sorted(SRC.rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


def called(node: ast.Call) -> str:
    """The last name of what is called: `sleep` of `asyncio.sleep(...)`."""
    return dotted(node.func).rpartition(".")[2]


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
