"""An account with spending, as the tests of the automatic top-up make it."""

from __future__ import annotations

from tests.dashboard.top_up.conftest import account, add_spend, enqueued

__all__ = ["account", "add_spend", "enqueued"]
