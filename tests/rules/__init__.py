"""Rules about the source and the documents."""
