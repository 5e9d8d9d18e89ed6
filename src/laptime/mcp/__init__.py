"""laptime for other programs: a server of the Model Context Protocol (MCP).

``runs`` opens evidence and remembers a few explanations, ``answers`` makes the typed, bounded
results, ``server`` offers them as tools. Only ``server`` imports the protocol's SDK, which is an
optional extra (``pip install 'laptime[mcp]'``).
"""
