"""Tests of the terminal interface, on a campaign held in memory."""
