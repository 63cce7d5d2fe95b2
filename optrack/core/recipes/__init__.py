"""Recipes: the shape of what a plan may ask for, its layers resolved, and the value that is run."""
