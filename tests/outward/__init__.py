"""The outward behaviour of every command in every state, recorded as text, to hold a rebuilt inside against."""
