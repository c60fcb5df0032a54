"""Views of the security page, one module per card."""

from __future__ import annotations
