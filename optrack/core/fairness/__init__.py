"""Whether two runs may be compared: what differs, who declared it, what it means, what nobody saw."""
