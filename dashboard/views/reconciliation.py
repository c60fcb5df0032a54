"""Reconciliation, and what a person decides there: each asks once, naming the amount."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.access import check, fetch_account, fetch_charge, fetch_rewrite
from dashboard.actions import books
from dashboard.actions.looks import LOOKED_FOR, look_for
from dashboard.http import ASKS_OR_ACTS, TeamRequest
from dashboard.queries import reconciliation as queries
from dashboard.queries.address import amount_or_none, number_or_none, text
from dashboard.queries.overview.credits import ledgered
from dashboard.queries.shell import shell_of
from dashboard.roles import Permission
from dashboard.templatetags.reelroom import credits as shown
from proxyapi.models import Account
from proxyapi.refusals import Refusal

PAGE, BODY = "dashboard/reconciliation/page.html", "dashboard/reconciliation/_body.html"
LET_GO = "dashboard/reconciliation/_let_go.html"
ROOM = "dashboard/reconciliation"


@require_safe
@vary_on_headers("HX-Request")
def reconciliation(request: TeamRequest) -> HttpResponse:
    """`?account=` names one; `?part=body` is what changes of the page, `let-go` comes after it."""
    check(request.membership, Permission.SEE)
    wanted = request.GET.get("account", "")
    if request.GET.get("part") == "body":
        accounts = tuple(ledgered(request.team.vault))
        return render(request, BODY, {"page": page_of(request, accounts, wanted)})
    if request.GET.get("part") == "let-go":
        account, _ = fetch_account(request, wanted)
        found = queries.let_go_of(request.team, account) if account else ()
        return render(request, LET_GO, {"let_go": found})
    return render(request, PAGE, whole(request, wanted))


@require_POST
def looks(request: TeamRequest, charge_id: UUID) -> HttpResponse:
    """Look for what became of a charge, now; it asks nobody first, for it costs no credits."""
    charge = fetch_charge(request, charge_id, Permission.LOOK_AGAIN)
    try:
        look_for(by=request.membership, charge=charge)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.info(request, LOOKED_FOR)
    return back(charge.account_id)


@ASKS_OR_ACTS
def write_offs(request: TeamRequest, charge_id: UUID) -> HttpResponse:
    charge, words, error = fetch_charge(request, charge_id), text(request.POST, "reason"), ""
    if request.method == "POST":
        try:
            charge = books.write_off(by=request.membership, charge=charge, reason=words)
        except Refusal as refusal:
            error = refusal.sentence
        else:
            held = shown(charge.hold)
            messages.success(request, f"Written off. The {held} cr held are free again.")
            return back(charge.account_id)
    context = {"question": queries.writing_off(charge), "words": words, "error": error}
    return asked(request, "_write_off", charge.account_id, context, bad=bool(error))


@ASKS_OR_ACTS
def matches(request: TeamRequest, charge_id: UUID) -> HttpResponse:
    charge, error = fetch_charge(request, charge_id), ""
    if request.method == "POST":
        position, _, seen = request.POST.get("entry", "").partition(" ")
        try:
            charge = books.settle_with(
                by=request.membership,
                charge=charge,
                position=number_or_none(position),
                seen=amount_or_none(seen),
            )
        except Refusal as refusal:
            error = refusal.sentence
        else:
            messages.success(request, f"Settled: it was charged {shown(charge.cost)} cr.")
            return back(charge.account_id)
    context = {"matching": queries.matching(charge), "error": error}
    return asked(request, "_match", charge.account_id, context, bad=bool(error))


@ASKS_OR_ACTS
def acceptances(request: TeamRequest, rewrite_id: int) -> HttpResponse:
    rewrite, error = fetch_rewrite(request, rewrite_id), ""
    if request.method == "POST":
        try:
            books.take_version(by=request.membership, rewrite=rewrite)
        except Refusal as refusal:
            error = refusal.sentence
        else:
            messages.success(request, f"Row {rewrite.number:,} reads as the service shows it.")
            return back(rewrite.account_id)
    context = {"question": queries.rewording(rewrite), "act": "Take this version", "error": error}
    return asked(request, "_question", rewrite.account_id, context, bad=bool(error))


@ASKS_OR_ACTS
def account_acceptances(request: TeamRequest, account_id: UUID) -> HttpResponse:
    account, error = account_of(request, account_id), ""
    if request.method == "POST":
        seen = text(request.POST, "seen")
        try:
            taken = books.take_versions(by=request.membership, account=account, seen=seen)
        except Refusal as refusal:
            error = refusal.sentence
        else:
            messages.success(request, queries.taken_over(taken))
            return back(account.pk)
    context = {"question": queries.rewording_all(account), "act": "Take them all", "error": error}
    return asked(request, "_question", account.pk, context, bad=bool(error))


@ASKS_OR_ACTS
def anchors(request: TeamRequest, account_id: UUID) -> HttpResponse:
    account = account_of(request, account_id)
    context: dict[str, Any] = {"words": text(request.POST, "reason")}
    if request.method == "POST":
        seen = amount_or_none(request.POST.get("difference", ""))
        try:
            books.start_anew(
                by=request.membership, account=account, seen=seen, reason=context["words"]
            )
        except Refusal as refusal:
            context["reason_error" if refusal.field else "error"] = refusal.sentence
        else:
            messages.success(request, f"Set anew. {shown(abs(seen or Decimal(0)))} cr are let go.")
            return back(account.pk)
    bad = "error" in context or "reason_error" in context
    context["anchoring"] = queries.anchoring(account)
    return asked(request, "_anchor", account.pk, context, bad=bad)


def account_of(request: TeamRequest, account_id: UUID) -> Account:
    """One whose books the reader may decide about."""
    account, _ = fetch_account(request, str(account_id), Permission.MANAGE_MONEY)
    if account is None:
        raise Http404
    return account


def asked(
    request: TeamRequest,
    dialog: str,
    account: UUID,
    context: Mapping[str, Any],
    *,
    bad: bool = False,
) -> HttpResponse:
    """The dialog alone for htmx, the account's page with the dialog on it without script."""
    name, status = f"{ROOM}/{dialog}.html", 422 if bad else 200
    given = {**context, "action": request.path, "fragment": bool(request.htmx)}
    given["back"] = address(account)
    if request.htmx:
        return render(request, name, given, status=status)
    page = whole(request, str(account))
    return render(request, PAGE, {**page, **given, "dialog": name}, status=status)


def whole(request: TeamRequest, wanted: str) -> dict[str, Any]:
    shell = shell_of(request.membership, ledgered(request.team.vault))
    return {"page": page_of(request, shell.accounts, wanted), "shell": shell}


def page_of(request: TeamRequest, accounts: Sequence[Account], wanted: str) -> queries.Page | None:
    if wanted and all(str(account.pk) != wanted for account in accounts):
        # One that no token opens any more keeps its books.
        accounts = fetch_account(request, wanted)[1]
    return queries.page_of(request.membership, accounts, wanted)


def back(account: UUID) -> HttpResponse:
    return redirect(address(account))


def address(account: UUID) -> str:
    return f"{reverse('reconciliation')}?account={account}"
