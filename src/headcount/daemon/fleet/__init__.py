"""The fleet: a daemon that shares claims and its roster with others, through one database."""
