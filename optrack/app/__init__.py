"""What is asked of a project and done with it."""
