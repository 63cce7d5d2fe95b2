"""Which item is next: what stands where, what blocks whom, what an item is worth, what to go on with."""
