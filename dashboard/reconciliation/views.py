"""The reconciliation page and its decisions; each dialog names the amount it concerns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.reconciliation import actions, queries
from dashboard.reconciliation.forms import RebaseForm, WriteOffForm
from dashboard.shared.access import (
    check_permission,
    fetch_account,
    fetch_charge_to_decide,
    fetch_ledger_conflict,
    fetch_unknown_charge,
)
from dashboard.shared.dialogs import DialogView
from dashboard.shared.formatting import credits as shown
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.ledger_agreement import accounts_with_ledger
from dashboard.shared.query_params import clean_text_param, parse_credits, parse_small_int
from dashboard.shared.recheck import RECHECK_STARTED, recheck_charge
from dashboard.shared.roles import Permission
from dashboard.shared.shell import build_app_shell
from proxyapi.models import Account
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, BODY_TEMPLATE = "reconciliation/page.html", "reconciliation/_body.html"
ACCEPTED_DIFFERENCES_TEMPLATE = "reconciliation/_accepted_differences.html"


@require_safe
@vary_on_headers("HX-Request")
def reconciliation(request: TeamRequest) -> HttpResponse:
    """`?account=` selects the account; `?part=body` returns the part that changes, `?part=let-go`
    the accepted differences."""
    check_permission(request.membership, Permission.VIEW)
    account_id = request.GET.get("account", "")
    if request.GET.get("part") == "body":
        accounts = tuple(accounts_with_ledger(request.team.tenant))
        return render(
            request, BODY_TEMPLATE, {"page": load_account_page(request, accounts, account_id)}
        )
    if request.GET.get("part") == "let-go":
        account, _ = fetch_account(request, account_id)
        differences = queries.load_accepted_differences(account) if account else ()
        return render(request, ACCEPTED_DIFFERENCES_TEMPLATE, {"differences": differences})
    return render(request, PAGE_TEMPLATE, full_page_context(request, account_id))


@require_POST
def check_charge_now(request: TeamRequest, charge_id: UUID) -> HttpResponse:
    """Check an unknown charge now; no confirmation, because it costs no credits."""
    charge = fetch_unknown_charge(request, charge_id, Permission.RECHECK)
    try:
        recheck_charge(by=request.membership, charge=charge)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.info(request, RECHECK_STARTED)
    return redirect(queries.reconciliation_url(charge.account_id))


class DecisionDialog(DialogView):
    """One question about an account, whose page is below. `label` and `kind` are of its button."""

    template_name, page_template = "reconciliation/_question.html", PAGE_TEMPLATE
    label, kind = "", "primary"

    def return_to(self, account_id: UUID) -> None:
        self.account_id, self.back = account_id, queries.reconciliation_url(account_id)

    def load_question(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def load_dialog(self) -> Mapping[str, Any]:
        return {"button": {"label": self.label, "kind": self.kind}, **self.load_question()}

    def load_page(self) -> Mapping[str, Any]:
        return full_page_context(self.request, str(self.account_id))


class UnknownChargeDialog(DecisionDialog):
    def fetch(self, charge_id: UUID) -> None:
        self.charge = fetch_unknown_charge(self.request, charge_id)
        self.return_to(self.charge.account_id)


class WriteOffCharge(UnknownChargeDialog):
    form_class, label, kind = WriteOffForm, "Write off charge", "danger-fill"

    def load_question(self) -> Mapping[str, Any]:
        return {"question": queries.build_write_off_question(self.charge)}

    def save(self, form: PortalForm) -> str:
        reason = form.cleaned_data["reason"]
        done = actions.write_off_unknown_charge(by=self.by, charge=self.charge, reason=reason)
        return f"Written off. The {shown(done.hold)} cr held are released."


class MatchCharge(UnknownChargeDialog):
    template_name, label = "reconciliation/_match.html", "Match entry"

    def load_question(self) -> Mapping[str, Any]:
        return queries.build_match_dialog(self.charge)

    def save(self, form: PortalForm) -> str:
        position, _, seen = self.request.POST.get("entry", "").partition(" ")
        done = actions.match_charge_to_entry(
            by=self.by,
            charge=self.charge,
            position=parse_small_int(position),
            seen=parse_credits(seen),
        )
        return f"Matched: it was charged {shown(done.cost)} cr."


class RemoveMatch(DecisionDialog):
    label = "Remove match"

    def fetch(self, charge_id: UUID) -> None:
        self.charge = fetch_charge_to_decide(self.request, charge_id)
        self.return_to(self.charge.account_id)

    def load_question(self) -> Mapping[str, Any]:
        return {"question": queries.build_match_removal_question(self.charge)}

    def save(self, form: PortalForm) -> str:
        debit = actions.remove_match(by=self.by, charge=self.charge)
        return f"Match removed. The debit of {shown(-debit.amount)} cr is outside the portal."


class AcceptLedgerVersion(DecisionDialog):
    label = "Accept version"

    def fetch(self, rewrite_id: int) -> None:
        self.conflict = fetch_ledger_conflict(self.request, rewrite_id)
        self.return_to(self.conflict.account_id)

    def load_question(self) -> Mapping[str, Any]:
        return {"question": queries.build_conflict_question(self.conflict)}

    def save(self, form: PortalForm) -> str:
        actions.accept_ledger_conflict(by=self.by, conflict=self.conflict)
        return f"Row {self.conflict.number:,} replaced with the service’s version."


class ManagedAccountDialog(DecisionDialog):
    def fetch(self, account_id: UUID) -> None:
        account, _ = fetch_account(self.request, str(account_id), Permission.MANAGE_MONEY)
        if account is None:
            raise Http404
        self.account = account
        self.return_to(account_id)


class AcceptAllLedgerVersions(ManagedAccountDialog):
    label = "Accept all"

    def load_question(self) -> Mapping[str, Any]:
        return {"question": queries.build_all_conflicts_question(self.account)}

    def save(self, form: PortalForm) -> str:
        seen = clean_text_param(self.request.POST, "seen")
        return queries.accepted_conflicts_text(
            actions.accept_ledger_conflicts(by=self.by, account=self.account, seen=seen)
        )


class RebaseAccount(ManagedAccountDialog):
    template_name, form_class = "reconciliation/_anchor.html", RebaseForm
    label = "Reset opening balance"

    def load_question(self) -> Mapping[str, Any]:
        return queries.build_rebase_dialog(self.account)

    def save(self, form: PortalForm) -> str:
        seen, reason = parse_credits(self.request.POST.get("seen", "")), form.cleaned_data["reason"]
        actions.rebase_opening_balance(by=self.by, account=self.account, seen=seen, reason=reason)
        gap = shown(abs(seen or Decimal(0)))
        return f"Opening balance reset. A difference of {gap} cr was accepted."


def full_page_context(request: TeamRequest, account_id: str) -> dict[str, Any]:
    shell = build_app_shell(request.membership, accounts_with_ledger(request.team.tenant))
    return {"page": load_account_page(request, shell.accounts, account_id), "shell": shell}


def load_account_page(
    request: TeamRequest, accounts: Sequence[Account], account_id: str
) -> queries.ReconciliationPage | None:
    if account_id and all(str(account.pk) != account_id for account in accounts):
        # An account without a working token keeps its page.
        accounts = fetch_account(request, account_id)[1]
    return queries.build_reconciliation_page(request.membership, accounts, account_id)
