"""Fetch a row and check the permission (rule 8): a row of another team raises `Http404`, a row that
the reader may see but not change raises `PermissionDenied`. Nothing else decides either."""

from __future__ import annotations

from dashboard.shared.access.api_keys import (
    KeyRight,
    fetch_api_key,
    key_rights,
    sees_all_keys,
    sees_api_keys,
    visible_keys,
)
from dashboard.shared.access.assets import (
    fetch_batch,
    fetch_character,
    fetch_ideas,
    fetch_preset,
    fetch_sample,
    fetch_voice,
)
from dashboard.shared.access.money import (
    fetch_account,
    fetch_account_to_archive,
    fetch_approval_request,
    fetch_budget,
    fetch_charge_to_decide,
    fetch_credit_pack,
    fetch_delivery,
    fetch_ledger_conflict,
    fetch_ledger_entry,
    fetch_outside_source,
    fetch_own_approval_request,
    fetch_readable_approval_request,
    fetch_unknown_charge,
    fetch_webhook,
    find_approval_request,
)
from dashboard.shared.access.people import (
    TARGET_HAS_MORE_PERMISSIONS,
    audit_entries,
    can_pause_charges,
    check_can_change_role,
    check_can_pause_charges,
    fetch_any_team,
    fetch_audit_entry,
    fetch_deactivated_membership,
    fetch_gateway_request,
    fetch_invitation,
    fetch_member_to_pause,
    fetch_membership,
    fetch_ownership_transfer,
    fetch_received_transfer,
    fetch_removable_membership,
    fetch_team_member,
    fetch_token_to_change,
    find_ownership_transfer,
    gateway_requests,
)
from dashboard.shared.access.permissions import (
    PERMISSION_MESSAGES,
    check_permission,
    has_permission,
    require_operator,
    require_visible,
)
from dashboard.shared.access.storyboards import (
    fetch_deleted_storyboard,
    fetch_scene,
    fetch_storyboard,
    find_storyboard,
)
from dashboard.shared.access.videos import (
    fetch_clip,
    fetch_film,
    fetch_hidden_job,
    fetch_job,
    fetch_label,
    fetch_part,
    fetch_selected_jobs,
    fetch_version_group,
    find_clip_draft,
    require_team_labels,
)
