"""The audit log: its page, one entry, the export, and the verification of its chain."""

from __future__ import annotations
