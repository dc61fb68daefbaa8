"""Real agent CLIs in homes of their own, and the recorder of their traces."""
