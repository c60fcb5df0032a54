"""Modules that several areas use. Nothing here imports an area."""

from __future__ import annotations
