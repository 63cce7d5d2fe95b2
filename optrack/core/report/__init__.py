"""Reports for people and programs: the progress log and its parts, one file for each part and format."""
