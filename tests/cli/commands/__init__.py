"""One command or a few related ones a file."""
