"""What is done on the host: processes, files, git, hardware."""
