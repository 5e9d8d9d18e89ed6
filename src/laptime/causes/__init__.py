"""One module for each cause, found by listing the folder."""
