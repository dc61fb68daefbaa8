"""What each route needs of its caller, and which session a selector means."""
