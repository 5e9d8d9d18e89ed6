"""Tests of laptime, and what the benchmarks share with them."""
