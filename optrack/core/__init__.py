"""What optrack decides: frozen values and functions, without files, clock, processes, database or UI."""
