"""The terminal UI, by Textual's pilot and in a real terminal."""
