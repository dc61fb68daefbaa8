"""The faces: page, terminal UI, notifications, in what people really look at."""
