"""The documentation and the scripts that keep its pages true to the code."""
