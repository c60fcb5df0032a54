"""Views of the scenes and of the exports of a video."""

from __future__ import annotations
