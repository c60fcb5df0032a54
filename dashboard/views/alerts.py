"""Alerts: what was told, which thresholds are watched, and on which ways it is told."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.access import check
from dashboard.actions import alerts as actions
from dashboard.forms.alerts import RuleForm, RulesForm, WebhookForm
from dashboard.http import ASKS_OR_ACTS, TeamRequest
from dashboard.models import Watch
from dashboard.queries.alerts import page_of, rules_of
from dashboard.roles import Permission
from proxyapi.refusals import Refusal, StaleData

PAGE, TOLD = "dashboard/alerts/page.html", "dashboard/alerts/_told.html"
LOG, ADDITION = "dashboard/alerts/_log.html", "dashboard/alerts/_addition.html"


@require_safe
@vary_on_headers("HX-Request")
def alerts(request: TeamRequest) -> HttpResponse:
    """The page; for htmx one part of it, what was told or the log."""
    if not request.htmx:
        return show(request)
    part = LOG if request.GET.get("part") == "log" else TOLD
    return render(request, part, {"page": page_of(request.membership)})


@require_safe
def notices(request: TeamRequest) -> HttpResponse:
    """How many of the reader's alerts are not read, for the bell."""
    return render(request, "components/bell_news.html")


@require_POST
def readings(request: TeamRequest) -> HttpResponse:
    actions.mark_read(by=request.membership)
    return redirect("alerts")


@require_POST
def rules(request: TeamRequest) -> HttpResponse:
    """All rules as one form."""
    check(request.membership, Permission.MANAGE_MONEY)
    form = RulesForm(rules_of(request.membership), request.POST)
    if form.is_valid():
        try:
            changed = actions.set_rules(by=request.membership, wanted=form.wanted())
        except StaleData as stale:
            form = form.redrawn(rules_of(request.membership))
            form.add_error(None, stale.sentence)
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            if changed:
                messages.success(request, "The alerts are saved.")
            return redirect("alerts")
    return show(request, rules=form)


@ASKS_OR_ACTS
def additions(request: TeamRequest) -> HttpResponse:
    """One more threshold."""
    check(request.membership, Permission.MANAGE_MONEY)
    form = RuleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        watch, threshold = Watch(form.cleaned_data["watch"]), form.cleaned_data["threshold"]
        try:
            actions.add_rule(by=request.membership, watch=watch, threshold=threshold)
        except Refusal as refusal:
            form.add_error("threshold", refusal.sentence)
        else:
            return redirect("alerts")
    if request.htmx:
        return render(request, ADDITION, {"addition": form, "fragment": True})
    return show(request, addition=form, dialog=ADDITION)


@never_cache
@sensitive_variables("secret")
@require_POST
def webhook(request: TeamRequest) -> HttpResponse:
    """Where alerts are posted to. The secret stands on this answer and on no other."""
    check(request.membership, Permission.MANAGE_MONEY)
    form, secret = WebhookForm(request.POST), ""
    if form.is_valid():
        try:
            secret = actions.set_webhook(by=request.membership, url=form.cleaned_data["url"])
        except Refusal as refusal:
            form.add_error("url", refusal.sentence)
    return show(request, webhook=WebhookForm() if secret else form, secret=secret)


@require_POST
def webhook_removals(request: TeamRequest) -> HttpResponse:
    actions.remove_webhook(by=request.membership)
    messages.success(request, "Nothing is posted any more.")
    return redirect("alerts")


@require_POST
def tests(request: TeamRequest) -> HttpResponse:
    """A test on every way; the log says how it went."""
    try:
        rows = actions.send_test(by=request.membership)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect("alerts")
    ways = {row.get_channel_display().lower() for row in rows}
    messages.info(request, f"A test is on its way by {' and '.join(sorted(ways))}. See the log.")
    return redirect("alerts")


def show(request: TeamRequest, **more: Any) -> HttpResponse:
    page = page_of(request.membership)
    context = {"page": page, "webhook": WebhookForm(), "rules": None, **more}
    context["rules"] = context["rules"] or RulesForm(list(page.rules))
    forms = (context["rules"], context["webhook"], more.get("addition"))
    bad = any(form is not None and form.is_bound and form.errors for form in forms)
    return render(request, PAGE, context, status=422 if bad else 200)
