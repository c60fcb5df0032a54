"""Costs: the service's price list, actual costs, and the accuracy of estimates. Other areas use its
URLs (`costs`, `estimate-accuracy`) and import nothing."""

from __future__ import annotations
