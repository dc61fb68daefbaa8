"""Git and tmux, read from outside; the other ports are in contract/."""
