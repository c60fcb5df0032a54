"""Views of sign-in, passwords and preferences."""

from __future__ import annotations
