"""Views of clips: the composer, price and generation, references."""

from __future__ import annotations
