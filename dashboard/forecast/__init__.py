"""The forecast page. Other areas use its URLs (`forecast`, `forecast-summary`); the figures are in
`shared.forecast`."""

from __future__ import annotations
