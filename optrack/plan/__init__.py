"""From markdown to what runs next."""
