"""What the hardware is specified to do."""
