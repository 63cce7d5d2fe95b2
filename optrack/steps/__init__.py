"""What optrack does: one kind of input and output in each module; no step knows another."""
