"""Views of the members page and of its dialogs."""

from __future__ import annotations
