"""Reads of the audit log's pages."""

from __future__ import annotations
