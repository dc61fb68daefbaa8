"""All tests; folders mirror src/headcount, and rig/ holds what they share."""
