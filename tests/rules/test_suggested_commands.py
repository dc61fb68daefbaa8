"""A command that is suggested with somebody's text in it is made by clean_text.py (on the page: words.js), nowhere else."""

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "headcount"
PROSE = ("tmux at ", "tmux would not ", "headcount does not know ", "this headcount knows ")
BEFORE = re.compile(r"\b(?:headcount|tmux|claude|chmod|cd|kill) (?:[a-z-]+ )*(?:--?[a-z]+ )*$")
OURS = {
    "session.id[:4]", "short", "id", "verb", "session", "__version__", "theirs", "self._version", "kind", "name",
    "foreign[0]", "status['version']", "clean(status.get('version'))", "clean(raw.get('id'))[:session_words.SHORTEST_ID]",
    "clean(raw.get('id'))[:SHORTEST_ID]", "'jump' if raw.get('where') else 'show'",
    "'jump' if session.where else 'show'", "typed", "near[0]", "wish.verb", "verb.name",
}  # fmt: skip
"""Ids that we made, versions, and verbs: no foreign text can be in them."""


def test_no_f_string_puts_foreign_text_into_a_command() -> None:
    found = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.JoinedStr):
                continue
            before = ""
            for part in node.values:
                if isinstance(part, ast.Constant):
                    before += str(part.value)
                elif isinstance(part, ast.FormattedValue):
                    text = ast.unparse(part.value)
                    if (
                        BEFORE.search(before)
                        and text not in OURS
                        and not any(each in before for each in PROSE)
                    ):
                        found.append(f"{path.relative_to(SOURCE)}:{node.lineno}: {before}{{{text}}}")
                    before += "x "
    assert not found, "\n".join(found)


def test_no_template_of_the_page_puts_anything_into_a_command() -> None:
    files = [each for each in (SOURCE / "web" / "static").rglob("*.js") if "vendor" not in each.parts]
    found = [
        f"{each.name}: {line}"
        for each in files
        for line in re.findall(r"headcount [a-z -]*\$\{.*", each.read_text())
    ]
    assert files and not found, "\n".join(found)
