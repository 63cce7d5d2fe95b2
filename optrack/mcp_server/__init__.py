"""A Model Context Protocol server: the campaign as tools for agents, over standard input and output."""
