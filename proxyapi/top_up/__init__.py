"""Automatic top-up: read the preference, change it, detect changes made elsewhere.

The preference belongs to the account and concerns money. A change is a row that a worker sends
(`process_change`), so no page waits for the upstream and no change is lost.
"""

from __future__ import annotations

from proxyapi.top_up.change_dispatch import pick_account_token, process_change, request_change
from proxyapi.top_up.inferred_state import (
    InferredTopUpState,
    infer_from_entries,
    infer_top_up_state,
    is_stopped_by_failures,
    is_top_up_entry,
    mentions_top_up,
    utc_midnight,
)
from proxyapi.top_up.preference_sync import (
    ACCOUNT_UNREADABLE,
    PLAN_REQUIRED_MESSAGES,
    PreferenceReading,
    accounts_due_for_preference_read,
    refresh_preference,
)
from proxyapi.top_up.setting import (
    CREDITS_PER_UNIT,
    MAX_TOP_UP_UNITS,
    UNIT_PRESETS,
    TopUpSetting,
    is_legal_unit_count,
)
