"""Costs: the service's list, what was really paid, how close estimates were. Other areas name its
URLs (`costs`, `estimate-accuracy`) and import nothing."""

from __future__ import annotations
