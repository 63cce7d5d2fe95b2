"""The terminal interface: screens that follow a campaign's journal and ask others to act on it."""
