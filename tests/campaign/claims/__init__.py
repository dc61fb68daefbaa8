"""Campaigns on claims: one holder at a time, freed at death, never inherited."""
