"""Mira with a password, as on the members page."""

from __future__ import annotations

from tests.dashboard.members.conftest import confirmed_client_of, mira_has_password

__all__ = ["confirmed_client_of", "mira_has_password"]
