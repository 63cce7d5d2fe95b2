"""The process that runs an item."""
