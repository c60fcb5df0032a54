"""API keys of a team: what a script may do and spend, and the rules that the gateway asks for."""
