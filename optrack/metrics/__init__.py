"""What benchmarks and servers wrote, as readings."""
