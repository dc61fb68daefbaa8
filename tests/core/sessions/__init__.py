"""Which session a report belongs to, and what it changes there."""
