"""Values as text, markdown, HTML and charts."""
