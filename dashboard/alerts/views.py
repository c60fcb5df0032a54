"""The alerts page: alert history, rules and channels."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.alerts import actions
from dashboard.alerts.forms import AlertRulesForm, NewAlertRuleForm, WebhookForm
from dashboard.alerts.queries import build_alerts_page, load_alert_rules
from dashboard.models import AlertKind
from dashboard.shared.access import check_permission
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal, StaleData

PAGE_TEMPLATE, HISTORY_TEMPLATE = "alerts/page.html", "alerts/_history.html"
LOG_TEMPLATE, NEW_RULE_TEMPLATE = "alerts/_deliveries.html", "alerts/_new_rule.html"


@require_safe
@vary_on_headers("HX-Request")
def alerts(request: TeamRequest) -> HttpResponse:
    """The page; for htmx one part of it, the history or the delivery log."""
    if not request.htmx:
        return render_alerts_page(request)
    part = LOG_TEMPLATE if request.GET.get("part") == "log" else HISTORY_TEMPLATE
    return render(request, part, {"page": build_alerts_page(request.membership)})


@require_safe
def unread_badge(request: TeamRequest) -> HttpResponse:
    """The number of the reader's unread alerts, for the bell."""
    return render(request, "alerts/_bells.html")


@require_POST
def mark_alerts_read(request: TeamRequest) -> HttpResponse:
    actions.mark_alerts_read(by=request.membership)
    return redirect("alerts")


@require_POST
def update_rules(request: TeamRequest) -> HttpResponse:
    """Save the form with all rules."""
    check_permission(request.membership, Permission.MANAGE_MONEY)
    form = AlertRulesForm(load_alert_rules(request.membership), request.POST)
    if form.is_valid():
        try:
            changed = actions.update_alert_rules(
                by=request.membership, requested=form.requested_changes()
            )
        except StaleData as stale:
            form = form.with_current_version(load_alert_rules(request.membership))
            form.add_error(None, stale.sentence)
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            if changed:
                messages.success(request, "Alert rules saved.")
            return redirect("alerts")
    return render_alerts_page(request, rules=form)


@allow_get_or_post
def add_rule(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.MANAGE_MONEY)
    form = NewAlertRuleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        kind, threshold = AlertKind(form.cleaned_data["kind"]), form.cleaned_data["threshold"]
        try:
            actions.add_alert_rule(by=request.membership, kind=kind, threshold=threshold)
        except Refusal as refusal:
            form.add_error("threshold", refusal.sentence)
        else:
            return redirect("alerts")
    if request.htmx:
        return render(request, NEW_RULE_TEMPLATE, {"addition": form, "fragment": True})
    return render_alerts_page(request, addition=form, dialog=NEW_RULE_TEMPLATE)


@never_cache
@sensitive_variables("secret")
@require_POST
def set_webhook(request: TeamRequest) -> HttpResponse:
    """Save the webhook. Only this response contains the secret."""
    check_permission(request.membership, Permission.MANAGE_MONEY)
    form, secret = WebhookForm(request.POST), ""
    if form.is_valid():
        try:
            secret = actions.set_webhook(by=request.membership, url=form.cleaned_data["url"])
        except Refusal as refusal:
            form.add_error("url", refusal.sentence)
    return render_alerts_page(request, webhook=WebhookForm() if secret else form, secret=secret)


@require_POST
def remove_webhook(request: TeamRequest) -> HttpResponse:
    actions.remove_webhook(by=request.membership)
    messages.success(request, "Webhook removed.")
    return redirect("alerts")


@require_POST
def send_test_alerts(request: TeamRequest) -> HttpResponse:
    """Send a test on every channel; the delivery log shows the result."""
    try:
        rows = actions.send_test_alert(by=request.membership)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect("alerts")
    channels = {row.get_channel_display().lower() for row in rows}
    messages.info(
        request, f"Test alert sent by {' and '.join(sorted(channels))}. See the delivery log."
    )
    return redirect("alerts")


def render_alerts_page(request: TeamRequest, **context_overrides: Any) -> HttpResponse:
    page = build_alerts_page(request.membership)
    context = {"page": page, "webhook": WebhookForm(), "rules": None, **context_overrides}
    context["rules"] = context["rules"] or AlertRulesForm(list(page.rules))
    forms = (context["rules"], context["webhook"], context_overrides.get("addition"))
    is_invalid = any(form is not None and form.is_bound and form.errors for form in forms)
    return render(request, PAGE_TEMPLATE, context, status=422 if is_invalid else 200)
