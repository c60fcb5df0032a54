"""Views of characters: the gallery, a character's page, the steps, previews and training."""

from __future__ import annotations
