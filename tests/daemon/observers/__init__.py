"""What is looked at beside the loop: terminals, stalls, notifications."""
