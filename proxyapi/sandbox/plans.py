"""What an account's plan allows: clip engines and quotas (spec: REACH-PLAN-*)."""

from __future__ import annotations

from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.choices import Quota
from proxyapi.sandbox.errors import PlanLimitReached, PublishLimitReached, StorageLimitReached
from proxyapi.sandbox.records import Account
from proxyapi.sandbox.world import World

MONTH_SECONDS = 30 * 24 * 3600
_NO_QUOTA = Quota()


def has_model(world: World, account: Account, slug: str) -> bool:
    """Whether the plan has the clip engine."""
    return slug not in world.settings.models_outside_plan.get(account.plan, [])


def require_render(call: ApiCall) -> None:
    limit = _quota(call).renders
    if limit is not None and _uses_of_month(call, "faceless_render") >= limit:
        raise PlanLimitReached


def require_clip(call: ApiCall) -> None:
    limit = _quota(call).clips
    if limit is not None and _uses_of_month(call, "text_to_video") >= limit:
        raise PlanLimitReached


def require_export(call: ApiCall) -> None:
    """The API publishes nothing; its exports count as publications."""
    limit = _quota(call).exports
    if limit is not None and _uses_of_month(call, "faceless_export") >= limit:
        raise PublishLimitReached


def require_character(call: ApiCall) -> None:
    limit = _quota(call).characters
    held = sum(it.account_id == call.account.id for it in call.world.characters)
    if limit is not None and held >= limit:
        raise PlanLimitReached


def require_storage(call: ApiCall, size: int) -> None:
    limit = _quota(call).storage_bytes
    if limit is not None and call.account.stored_bytes + size > limit:
        raise StorageLimitReached


def count_upload(call: ApiCall, size: int) -> None:
    """Count the bytes of an upload; raises StorageLimitReached and counts nothing."""
    require_storage(call, size)
    call.account.stored_bytes += size
    call.world.accounts.put(call.account)


def _quota(call: ApiCall) -> Quota:
    return call.world.settings.plan_quotas.get(call.account.plan, _NO_QUOTA)


def _uses_of_month(call: ApiCall, feature: str) -> int:
    """Charged uses of the last month that were not refunded."""
    since = call.world.now - MONTH_SECONDS
    return sum(
        it.feature == feature and it.created_at > since and not it.refunded
        for it in call.world.charges
        if it.account_id == call.account.id
    )
