"""What an ended session left: found, attributed, gone."""
