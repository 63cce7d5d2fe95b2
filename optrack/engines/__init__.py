"""How each kind of server is launched, benchmarked and asked."""
