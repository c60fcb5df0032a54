"""Alerts: rules, findings and their delivery.

Tasks use `evaluate`, `pruning` and `delivery.queue`, commands `default_rules`. A new kind is a
module of `kinds`.
"""

from __future__ import annotations
