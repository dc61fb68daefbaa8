"""Who may have an item, against examples, a model and recorded histories."""
