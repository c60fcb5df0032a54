"""The log of requests that scripts made with the team's API keys: list, one request, export."""
