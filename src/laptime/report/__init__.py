"""One module for each output."""
