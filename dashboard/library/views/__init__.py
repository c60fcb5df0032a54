"""Views of the library, of one video and of its media."""

from __future__ import annotations
