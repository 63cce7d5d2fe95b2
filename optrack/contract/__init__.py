"""What every command answers with `--json`."""
