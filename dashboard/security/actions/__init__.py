"""Changes of how people sign in to a team."""

from __future__ import annotations
