"""The options that the accounts of a team offer together, as last read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.db.models import Exists, OuterRef
from django.db.models.fields.json import KeyTextTransform

from dashboard.shared.video_options import (
    OPTION_FIELDS,
    FacelessOptions,
    account_options,
    option_slug,
)
from dashboard.studio.kept_settings.kept_option import KeptOption, find_kept_option, keep_option
from proxyapi.models import Account, Draft, Tenant, Token

# Options are read every ten minutes; older ones say nothing of what is offered now.
MAX_OPTIONS_AGE = timedelta(hours=1)
MAX_COUNTED_DRAFTS = 500  # newest drafts in which the use of an option is counted
DAILY_COMPARISON_AT = time(6)  # in the team's time zone


def last_comparison_time(tenant: Tenant, now: datetime) -> datetime:
    """Return when the presets of a team were last due to be compared: its last six o'clock."""
    local = now.astimezone(tenant.zone)
    today = datetime.combine(local.date(), DAILY_COMPARISON_AT, local.tzinfo)
    return today if today <= now else today - timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TeamOptions:
    """The accounts of the upstream in use that have a usable token, and their options."""

    accounts: tuple[tuple[Account, FacelessOptions], ...]

    def __bool__(self) -> bool:
        return bool(self.accounts)

    def is_offered(self, field: str, kept: KeptOption) -> bool:
        return any(
            find_kept_option(field, kept, account, options) is not None
            for account, options in self.accounts
        )

    def offered_options(self, field: str) -> tuple[KeptOption, ...]:
        """Return each option of a field once, in the order of the first account that has it."""
        group, key = OPTION_FIELDS[field]
        offered: dict[str, KeptOption] = {}
        for _, options in self.accounts:
            for item in options.usable_items(group, key):
                if (option := keep_option(item)) is not None:
                    offered.setdefault(option.slug, option)
        return tuple(offered.values())

    def find_offered(self, field: str, slug: str) -> KeptOption | None:
        """Return an option to keep; a voice clone with its account. None if none has the slug."""
        for account, options in self.accounts:
            for item in options.options_with_slug(field, slug):
                return keep_option(item, account if field == "voice_id" else None)
        return None

    def count_uses(self, field: str) -> Counter[str]:
        """Return in how many of the team's newest drafts each slug was chosen; one query for each
        account."""
        uses: Counter[str] = Counter()
        for account, options in self.accounts:
            drafts = Draft.objects.filter(job__account=account).order_by("-edited_at")
            values = drafts.annotate(chosen=KeyTextTransform(field, "settings"))
            for value in values.values_list("chosen", flat=True)[:MAX_COUNTED_DRAFTS]:
                item = options.find_option(field, value) if value else None
                uses.update([option_slug(item)] if item else [])
        return uses


def load_team_options(tenant: Tenant, now: datetime) -> TeamOptions:
    """Return the options that were read within `MAX_OPTIONS_AGE`; empty if there are none. One
    query."""
    usable_tokens = Token.objects.usable().filter(account=OuterRef("pk"))
    accounts = (
        Account.objects.of_current_upstream()
        .filter(Exists(usable_tokens), tenant=tenant)
        .filter(options_as_of__gte=now - MAX_OPTIONS_AGE)
        .defer("costs")
        .order_by("created_at", "pk")
    )
    read = ((account, account_options(account)) for account in accounts)
    return TeamOptions(tuple((account, options) for account, options in read if options))
