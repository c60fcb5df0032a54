"""The reconciliation page and its decisions; each dialog names the amount it concerns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.reconciliation import actions, queries
from dashboard.shared.access import (
    check_permission,
    fetch_account,
    fetch_charge_to_decide,
    fetch_ledger_conflict,
    fetch_unknown_charge,
)
from dashboard.shared.formatting import credits as shown
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.ledger_agreement import accounts_with_ledger
from dashboard.shared.query_params import clean_text_param, parse_credits, parse_small_int
from dashboard.shared.recheck import RECHECK_STARTED, recheck_charge
from dashboard.shared.roles import Permission
from dashboard.shared.shell import build_app_shell
from proxyapi.models import Account
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, BODY_TEMPLATE = (
    "reconciliation/page.html",
    "reconciliation/_body.html",
)
ACCEPTED_DIFFERENCES_TEMPLATE = "reconciliation/_accepted_differences.html"
TEMPLATE_DIR = "reconciliation"


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
    return redirect_to_account(charge.account_id)


@allow_get_or_post
def write_off_charge(request: TeamRequest, charge_id: UUID) -> HttpResponse:
    charge = fetch_unknown_charge(request, charge_id)
    words = clean_text_param(request.POST, "reason")

    def act() -> str:
        done = actions.write_off_unknown_charge(by=request.membership, charge=charge, reason=words)
        return f"Written off. The {shown(done.hold)} cr held are released."

    def context() -> Mapping[str, Any]:
        return {"question": queries.build_write_off_question(charge), "words": words}

    return confirm_and_act(request, "_write_off", charge.account_id, act, context)


@allow_get_or_post
def match_charge(request: TeamRequest, charge_id: UUID) -> HttpResponse:
    charge = fetch_unknown_charge(request, charge_id)
    position, _, seen = request.POST.get("entry", "").partition(" ")

    def act() -> str:
        done = actions.match_charge_to_entry(
            by=request.membership,
            charge=charge,
            position=parse_small_int(position),
            seen=parse_credits(seen),
        )
        return f"Matched: it was charged {shown(done.cost)} cr."

    def context() -> Mapping[str, Any]:
        return {"matching": queries.build_match_dialog(charge)}

    return confirm_and_act(request, "_match", charge.account_id, act, context)


@allow_get_or_post
def take_match_back(request: TeamRequest, charge_id: UUID) -> HttpResponse:
    charge = fetch_charge_to_decide(request, charge_id)

    def act() -> str:
        debit = actions.take_match_back(by=request.membership, charge=charge)
        return f"Match taken back. The debit of {shown(-debit.amount)} cr is outside the portal."

    def context() -> Mapping[str, Any]:
        question = queries.build_match_removal_question(charge)
        return {"question": question, "act": "Take match back"}

    return confirm_and_act(request, "_question", charge.account_id, act, context)


@allow_get_or_post
def accept_ledger_version(request: TeamRequest, rewrite_id: int) -> HttpResponse:
    conflict = fetch_ledger_conflict(request, rewrite_id)

    def act() -> str:
        actions.accept_ledger_conflict(by=request.membership, conflict=conflict)
        return f"Row {conflict.number:,} replaced with the service’s version."

    def context() -> Mapping[str, Any]:
        return {"question": queries.build_conflict_question(conflict), "act": "Accept version"}

    return confirm_and_act(request, "_question", conflict.account_id, act, context)


@allow_get_or_post
def accept_all_ledger_versions(request: TeamRequest, account_id: UUID) -> HttpResponse:
    account = fetch_managed_account(request, account_id)
    seen = clean_text_param(request.POST, "seen")

    def act() -> str:
        return queries.accepted_conflicts_text(
            actions.accept_ledger_conflicts(by=request.membership, account=account, seen=seen)
        )

    def context() -> Mapping[str, Any]:
        return {"question": queries.build_all_conflicts_question(account), "act": "Accept all"}

    return confirm_and_act(request, "_question", account.pk, act, context)


@allow_get_or_post
def rebase_account(request: TeamRequest, account_id: UUID) -> HttpResponse:
    account = fetch_managed_account(request, account_id)
    words = clean_text_param(request.POST, "reason")
    seen = parse_credits(request.POST.get("difference", ""))

    def act() -> str:
        actions.rebase_opening_balance(
            by=request.membership, account=account, seen=seen, reason=words
        )
        gap = shown(abs(seen or Decimal(0)))
        return f"Opening balance reset. A difference of {gap} cr was accepted."

    def context() -> Mapping[str, Any]:
        dialog = queries.build_rebase_dialog(account)
        return {"rebase": dialog, "words": words, "reason_error": ""}

    return confirm_and_act(request, "_anchor", account.pk, act, context)


def confirm_and_act(
    request: TeamRequest,
    dialog: str,
    account: UUID,
    act: Callable[[], str],
    context: Callable[[], Mapping[str, Any]],
) -> HttpResponse:
    """On POST run `act` and return to the account with its message. On GET, or if it is refused,
    show the dialog: alone for htmx, on the account's page without JavaScript."""
    refusal = None
    if request.method == "POST":
        try:
            messages.success(request, act())
            return redirect_to_account(account)
        except Refusal as refused:
            refusal = refused
    dialog_context = {
        "error": "",
        **context(),
        "action": request.path,
        "fragment": bool(request.htmx),
    }
    dialog_context["back"] = queries.reconciliation_url(account)
    if refusal:
        is_field_error = refusal.field and "reason_error" in dialog_context
        dialog_context["reason_error" if is_field_error else "error"] = refusal.sentence
    name, status = f"{TEMPLATE_DIR}/{dialog}.html", 422 if refusal else 200
    if request.htmx:
        return render(request, name, dialog_context, status=status)
    page = full_page_context(request, str(account))
    return render(request, PAGE_TEMPLATE, {**page, **dialog_context, "dialog": name}, status=status)


def fetch_managed_account(request: TeamRequest, account_id: UUID) -> Account:
    """Raise `Http404` unless the reader may manage the account's money."""
    account, _ = fetch_account(request, str(account_id), Permission.MANAGE_MONEY)
    if account is None:
        raise Http404
    return account


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


def redirect_to_account(account: UUID) -> HttpResponse:
    return redirect(queries.reconciliation_url(account))
