"""Forms of the security page."""

from __future__ import annotations
