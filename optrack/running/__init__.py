"""How one run is carried out: its session, its launches, its journal, and whether the host allows it."""
