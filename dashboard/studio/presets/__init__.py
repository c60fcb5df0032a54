"""Presets of a team and its brand kit: pages, actions and the comparison with the service."""

from __future__ import annotations
