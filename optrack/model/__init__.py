"""The values that all parts share: plans, items, recipes, runs, snapshots, judgements, events."""
