"""Forms of sign-in, and of the page of one's own account."""

from __future__ import annotations
