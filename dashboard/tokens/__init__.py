"""Tokens of members. `actions` is for tasks; a token's state is `shared.token_status`."""

from __future__ import annotations
