"""Reads of the operations page."""

from __future__ import annotations
