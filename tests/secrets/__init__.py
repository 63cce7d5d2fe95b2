"""Tests of what recognises and masks secrets, and of every way by which one could leave."""
