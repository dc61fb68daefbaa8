"""What `doctor` finds and concludes, and the redacted report."""
