"""Knowing when a server is ready: the probes, and whether what answers is the run's own process."""
