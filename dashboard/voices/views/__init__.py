"""Views of the voices."""

from __future__ import annotations
