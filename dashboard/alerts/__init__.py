"""Alerting: thresholds are looked at, each crossing is told once, and brought to its addresses."""

from __future__ import annotations
