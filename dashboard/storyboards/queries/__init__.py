"""Reads of the storyboard pages. Views use the names listed here."""

from __future__ import annotations
