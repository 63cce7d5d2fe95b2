"""The engines by name: how each kind of server is launched, benchmarked and asked."""
