"""Keys: which key means what. The help (help.py) tells them to people.

Not here: what an action does (app.py).
"""

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("j,down", "move(1)", show=False),
    Binding("k,up", "move(-1)", show=False),
    Binding("pagedown,ctrl+f", "page(1)", show=False),
    Binding("pageup,ctrl+b", "page(-1)", show=False),
    Binding("J", "scroll_detail(1)", show=False),
    Binding("K", "scroll_detail(-1)", show=False),
    Binding("g,home", "move(-1000000)", show=False),
    Binding("G,end", "move(1000000)", show=False),
    Binding("n", "next", show=False),
    Binding("enter", "jump", show=False),
    Binding("slash", "find", show=False),
    Binding("s", "stop", show=False),
    Binding("1", "tab('agents')", show=False),
    Binding("2", "tab('claims')", show=False),
    Binding("3", "tab('leftovers')", show=False),
    Binding("tab", "next_tab", show=False, priority=True),
    Binding("d", "detail", show=False),
    Binding("escape", "leave", show=False),
    Binding("question_mark", "help", show=False),
    Binding("q,ctrl+c", "quit", show=False),
]
