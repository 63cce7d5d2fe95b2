"""What the evidence shows of a candidate against a baseline."""
