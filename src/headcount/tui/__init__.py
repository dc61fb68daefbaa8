"""The terminal UI: the table of `ps`, alive, with what lies behind each row. It draws what the wire says."""
