"""Views of presets and of the brand kit. A dialog is a fragment for htmx, else part of its page."""

from __future__ import annotations
