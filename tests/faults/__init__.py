"""Short forms of the campaigns, run by every change."""
