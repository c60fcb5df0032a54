"""Backups and the migration executor, for management commands alone."""

from __future__ import annotations
