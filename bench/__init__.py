"""Figures, one file each, side by side with the alternative in one run."""
