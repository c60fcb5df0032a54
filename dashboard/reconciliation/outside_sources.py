"""Naming spend outside the portal: the form, what it stores, and its dialogs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from dashboard.models import (
    MAX_SOURCE_NAME_CHARS,
    MAX_SOURCE_TEXT_CHARS,
    MAX_SOURCES_PER_ACCOUNT,
    AuditAction,
    Membership,
    OutsideSource,
)
from dashboard.reconciliation import queries
from dashboard.reconciliation.views import ManagedAccountDialog
from dashboard.shared.access import check_permission, fetch_outside_source
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.formatting import credits as shown
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.outside_spend import OUTSIDE_SPEND_AGE, load_outside_days
from dashboard.shared.query_params import parse_small_int
from dashboard.shared.roles import Permission
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.typed_numbers import CreditLimitField, limit_input_value
from proxyapi.models import Account, LedgerEntry
from proxyapi.refusals import Refusal

NO_CRITERION = "Enter a text, or choose where the debits come from or their hours."
ONE_HOUR_MISSING = "Choose both hours, or neither."
EQUAL_HOURS = "Choose two different hours."
NAME_TAKEN = "Another source of this account has this name. Choose another name."
TOO_MANY = f"At most {MAX_SOURCES_PER_ACCOUNT} sources can be named. Remove one first."
ANY_HOUR = ("", "Any hour")
HOURS = [(hour, f"{hour:02}:00") for hour in range(24)]
API_CHOICES = {None: "", True: "yes", False: "no"}  # values of the form by `via_api`


class OutsideSourceForm(PortalForm):
    name = forms.CharField(max_length=MAX_SOURCE_NAME_CHARS, help_text="Such as “Nightly script”.")
    text = forms.CharField(
        label="Text contains",
        max_length=MAX_SOURCE_TEXT_CHARS,
        required=False,
        help_text="Part of the label or of the content type. Leave empty for any.",
    )
    via_api = forms.ChoiceField(
        label="Source",
        required=False,
        choices=[("", "Any"), ("yes", "API"), ("no", "Not through the API")],
    )
    from_hour = forms.TypedChoiceField(
        label="From", required=False, coerce=int, empty_value=None, choices=[ANY_HOUR, *HOURS]
    )
    until_hour = forms.TypedChoiceField(
        label="Until", required=False, coerce=int, empty_value=None, choices=[ANY_HOUR, *HOURS]
    )
    daily_limit = CreditLimitField(
        least=0,
        label="Expected a day, at most",
        help_text="A day above it needs attention again. With 0 every debit does.",
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, use_required_attribute=False, **options)
        self.fields["daily_limit"].required = True
        for name in ("name", "text"):
            reject_invisible(self.fields[name])

    def clean_via_api(self) -> bool | None:
        chosen = self.cleaned_data["via_api"]
        return next(value for value, choice in API_CHOICES.items() if choice == chosen)

    def clean(self) -> dict[str, Any]:
        found = self.cleaned_data
        hours = found.get("from_hour"), found.get("until_hour")
        if (hours[0] is None) != (hours[1] is None):
            self.add_error("until_hour", ONE_HOUR_MISSING)
        elif hours[0] is not None and hours[0] == hours[1]:
            self.add_error("until_hour", EQUAL_HOURS)
        elif (
            not self.errors and not found["text"] and found["via_api"] is None and hours[0] is None
        ):
            self.add_error("text", NO_CRITERION)
        return found


@transaction.atomic
def save_outside_source(
    *, by: Membership, account: Account, source: OutsideSource | None, values: Mapping[str, Any]
) -> OutsideSource:
    """Name a source of the account, or change it. Raises `Refusal` if its name is taken, or if the
    account has the most sources already."""
    check_permission(by, Permission.MANAGE_MONEY)
    action = AuditAction.OUTSIDE_SOURCE_CHANGE if source else AuditAction.OUTSIDE_SOURCE_ADD
    before = describe_source(source) if source else {}
    if source is None:
        Account.objects.select_for_update().get(pk=account.pk)
        if account.outside_sources.count() >= MAX_SOURCES_PER_ACCOUNT:
            raise Refusal(TOO_MANY)
        source = OutsideSource(account=account, created_by=by.user)
    for name, value in values.items():
        setattr(source, name, value)
    try:
        with transaction.atomic():
            source.save()
    except IntegrityError:
        raise Refusal(NAME_TAKEN, field="name") from None
    record_audit_event(by, action, source.pk, before=before, after=describe_source(source))
    return source


@transaction.atomic
def remove_outside_source(*, by: Membership, source: OutsideSource) -> None:
    check_permission(by, Permission.MANAGE_MONEY)
    before, source_id = describe_source(source), source.pk
    source.delete()
    record_audit_event(by, AuditAction.OUTSIDE_SOURCE_REMOVE, source_id, before=before)


def describe_source(source: OutsideSource) -> dict[str, str]:
    """Return the criteria and the limit for the audit log."""
    values = {name: getattr(source, name) for name in ("account_id", "name", *source.CRITERIA)}
    limit = {"daily_limit": limit_input_value(source.daily_limit)}
    return {name: "" if value is None else str(value) for name, value in values.items()} | limit


class NameOutsideSpend(ManagedAccountDialog):
    """A new source. `?position=` is the ledger row whose text and source are suggested."""

    template_name, form_class = "reconciliation/_outside_source.html", OutsideSourceForm
    source: OutsideSource | None = None

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return OutsideSourceForm(data, initial=self.suggest())

    def suggest(self) -> dict[str, Any]:
        position = parse_small_int(self.request.GET.get("position", ""))
        if position is None:
            return {}
        entry = LedgerEntry.objects.filter(account=self.account, position=position).first()
        if entry is None:
            return {}
        return {"text": entry.label or entry.content_type, "via_api": API_CHOICES[entry.via_api]}

    def load_dialog(self) -> Mapping[str, Any]:
        return {"source": self.source, "zone": self.request.team.tenant.zone.key}

    def save(self, form: PortalForm) -> str:
        source = save_outside_source(
            by=self.by, account=self.account, source=self.source, values=form.cleaned_data
        )
        return f"Saved. {source.name}: {recent_spend_text(source, timezone.now())}"


class ChangeOutsideSource(NameOutsideSpend):
    def fetch(self, source_id: int) -> None:  # type: ignore[override]
        self.source = fetch_outside_source(self.request, source_id)
        self.account = self.source.account
        self.return_to(self.account.pk)

    def suggest(self) -> dict[str, Any]:
        assert self.source  # noqa: S101 - `fetch` found it
        values = {name: getattr(self.source, name) for name in ("name", *self.source.CRITERIA)}
        limit = limit_input_value(self.source.daily_limit)
        return {**values, "via_api": API_CHOICES[self.source.via_api], "daily_limit": limit}


@require_POST
def remove_source(request: TeamRequest, source_id: int) -> HttpResponse:
    """Remove a name; naming the spend again restores it."""
    source = fetch_outside_source(request, source_id)
    remove_outside_source(by=request.membership, source=source)
    messages.success(request, f"{source.name} removed. Its debits need attention again.")
    return redirect(queries.reconciliation_url(source.account_id))


def recent_spend_text(source: OutsideSource, now: datetime) -> str:
    """ "12 debits in 30 days, 340 cr in total, 42 cr on the highest day." """
    accounts = Account.objects.filter(pk=source.account_id)
    zone = source.account.tenant.zone
    rows = load_outside_days(accounts, now - OUTSIDE_SPEND_AGE, zone)
    days = [day for day in rows if day.source == source.pk]
    if not days:
        return "no debit of the last 30 days belongs to it."
    debits, total = sum(day.debits for day in days), sum((day.credits for day in days), Decimal(0))
    return (
        f"{debits:,} debit{'' if debits == 1 else 's'} in 30 days, {shown(total)} cr in total, "
        f"{shown(max(day.credits for day in days))} cr on the highest day."
    )
