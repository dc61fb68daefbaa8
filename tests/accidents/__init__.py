"""Accidents of earlier tools, each by its id, with the naive way failing beside ours."""
