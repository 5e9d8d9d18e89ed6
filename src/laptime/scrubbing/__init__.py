"""Copies of evidence that may be shared: names replaced, times and structure kept."""
