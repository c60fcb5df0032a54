"""Views of sign-in, of the second factor, and of the page of one's own account."""

from __future__ import annotations
