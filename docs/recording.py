"""A recording of a terminal, and its film: what a command writes, when, as an asciicast and as an SVG that moves.

Rules of this file
  1. The recording is of the real command in a real pseudo-terminal; nothing is drawn by hand.
  2. The film is one SVG without scripts: every picture of the terminal is a group that is visible in its time.
  3. The terminal here knows what our commands write (colours, up, clear) and nothing else.

Not here: which command, and the other pictures (pictures.py).
"""

import json
import os
import pty
import re
import select
import time
from dataclasses import dataclass
from html import escape

COLUMNS, ROWS = 96, 18
CELL, LINE, PAD = 8.4, 19, 16
PAUSE_AT_END = 4.0
PIECES = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|([^\x1b\r\n]+)|(\n)|(\r)|\x1b")
COLOURS = {
    "31": "#ff7b72",
    "32": "#7ee787",
    "33": "#e3b341",
    "35": "#d2a8ff",
    "36": "#79c0ff",
    "2": "#8b949e",
    "1": "#ffffff",
}
PLAIN = "#c9d1d9"


@dataclass(frozen=True, slots=True)
class Piece:
    at: float
    text: str


def record(command: list[str], env: dict[str, str]) -> list[Piece]:
    """What the command writes to its terminal, with the time since its start."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe(
            command[0],
            command,
            {**env, "COLUMNS": str(COLUMNS), "LINES": str(ROWS), "TERM": "xterm-256color"},
        )
    began, pieces = time.monotonic(), []
    while True:
        select.select([fd], [], [])
        try:
            data = os.read(fd, 65_536)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        pieces.append(Piece(round(time.monotonic() - began, 3), data.decode("utf-8", "replace")))
    os.close(fd)
    os.waitpid(pid, 0)
    return pieces


def asciicast(pieces: list[Piece], title: str) -> str:
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": title}
    return "\n".join([json.dumps(head), *(json.dumps([each.at, "o", each.text]) for each in pieces)]) + "\n"


class Terminal:
    def __init__(self) -> None:
        self.lines: list[list[tuple[str, str]]] = [[]]
        self.row = 0
        self._colour = PLAIN

    def feed(self, text: str) -> None:
        for codes, letter, plain, newline, _ in PIECES.findall(text):
            if plain:
                self.lines[self.row].append((plain, self._colour))
            elif newline:
                self.row += 1
                if self.row == len(self.lines):
                    self.lines.append([])
            elif letter == "A":
                self.row = max(0, self.row - int(codes or 1))
            elif letter == "J":
                self.lines = [*self.lines[: self.row], []]
            elif letter == "m":
                found = [COLOURS[each] for each in codes.split(";") if each in COLOURS]
                self._colour = found[-1] if found else PLAIN

    def picture(self) -> str:
        drawn = []
        for number, line in enumerate(self.lines[-ROWS:]):
            column, spans = 0, []
            for text, colour in line:
                x = PAD + column * CELL
                spans.append(
                    f'<tspan x="{x:.1f}" fill="{colour}" textLength="{len(text) * CELL:.1f}">{escape(text)}</tspan>'
                )
                column += len(text)
            if spans:
                drawn.append(
                    f'<text y="{PAD + 28 + number * LINE}" xml:space="preserve">{"".join(spans)}</text>'
                )
        return "".join(drawn)


def film(pieces: list[Piece], command: str) -> str:
    """An SVG in which the terminal is seen as it changed."""
    terminal, pictures = Terminal(), []
    for each in pieces:
        terminal.feed(each.text)
        picture = terminal.picture()
        if not pictures or pictures[-1][1] != picture:
            if pictures and each.at - pictures[-1][0] < 0.05:
                pictures[-1] = (pictures[-1][0], picture)  # halves of one redrawing
            else:
                pictures.append((each.at, picture))
    length = pictures[-1][0] + PAUSE_AT_END
    width, height = COLUMNS * CELL + 2 * PAD, ROWS * LINE + 2 * PAD + 28
    styles, groups = [], []
    for number, (at, picture) in enumerate(pictures):
        until = pictures[number + 1][0] if number + 1 < len(pictures) else length
        first, last = 100 * at / length, 100 * until / length
        styles.append(
            f"@keyframes k{number}{{0%{{opacity:{int(first == 0)}}}{first:.3f}%{{opacity:1}}{last:.3f}%{{opacity:{int(last >= 100)}}}"
            f"100%{{opacity:{int(last >= 100)}}}}}#f{number}{{animation:k{number} {length:.2f}s steps(1,end) infinite;opacity:0}}"
        )
        groups.append(f'<g id="f{number}">{picture}</g>')
    dots = "".join(f'<circle cx="{PAD + 6 + 18 * nth}" cy="16" r="5" fill="#30363d"/>' for nth in range(3))
    title = f'<text x="{width / 2:.0f}" y="20" text-anchor="middle" fill="#8b949e">{escape(command)}</text>'
    font = "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{escape(command)}, recorded"><style>{font}{"".join(styles)}</style>'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>{dots}{title}{"".join(groups)}</svg>\n'
    )
