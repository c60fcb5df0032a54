"""Agents of other programs that a member connects by OAuth: consent, tokens, the page of agents.

An agent is an `ApiKey` with a `client_id` whose value nobody has; its OAuth client has the tokens.
"""
