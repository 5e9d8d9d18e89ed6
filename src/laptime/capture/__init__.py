"""Capture: the user's program started, watched and recorded. Standard library only."""
