"""The pure core: decisions, collisions, timeline, notifications, and properties of all of it."""
