"""Floating-point operations of operators with known shapes, and what the device made of them."""
