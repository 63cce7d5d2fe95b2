"""optrack runs a ranked optimisation plan against a GPU inference server and says what the evidence shows."""

__version__ = "0.1.0"
