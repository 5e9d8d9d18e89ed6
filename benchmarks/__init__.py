"""Measurements of laptime against floors and peers; see docs/performance.md."""
