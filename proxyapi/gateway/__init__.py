"""The gateway: the API v2 under `/api/v2`, for scripts of a team.

Every operation of the table and nothing else, with keys of the portal instead of tokens, the answer
of the service byte for byte, and every charge through the same admission and at-most-once dispatch
as a charge of a page.
"""
