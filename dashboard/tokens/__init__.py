"""Tokens of members. `actions` is used by tasks; a token's status is in `shared.token_status`."""

from __future__ import annotations
