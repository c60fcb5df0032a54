"""Budgets and approval requests. Other areas use `shared.budget_usage`, `shared.charging` and
`shared.approvals`, and link here by URL name."""

from __future__ import annotations
