"""Bundles and releases of the style sheets and scripts, for templates and settings."""

from __future__ import annotations
