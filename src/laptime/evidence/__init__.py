"""Readers of evidence: one module for each format."""
