"""The plan as a whole: checked, kept in step with its edited text, added to, begun, and as a todo list."""
