"""Recomputes summary.json and the terminal summary of random scenarios from tables and traces; see ../README.md."""
