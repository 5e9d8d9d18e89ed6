"""Capture: the user's program started, watched and recorded.

``laptime run`` starts the program with the probe's folder on ``PYTHONPATH`` (``probe/``, which runs
in the user's own interpreter), samples the host from outside, and gathers both in one folder.
"""
