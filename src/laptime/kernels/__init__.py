"""Kernel names decoded."""
