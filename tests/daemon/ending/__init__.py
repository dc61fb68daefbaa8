"""stop, close, reap and the idle close."""
