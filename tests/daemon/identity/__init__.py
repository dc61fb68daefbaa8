"""Who is calling and from which process a report came."""
