"""Backups, the audit check and the migration executor, for management commands only."""

from __future__ import annotations
