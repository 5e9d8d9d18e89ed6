"""The partition of device time into accounts: the one place that defines busy, exposed, gap."""
