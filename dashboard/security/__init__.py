"""How people sign in to a team: second factor, e-mail domains, length of sessions."""

from __future__ import annotations
