"""The card of a person's notifications, on a page of its own for browsers without JavaScript."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from dashboard.account.actions.account_audit import record_account_event
from dashboard.account.notifications import load_notification_rows, save_notification_preferences
from dashboard.models import AuditAction
from dashboard.shared.http import TeamRequest, allow_get_or_post

PAGE_TEMPLATE, CARD_TEMPLATE = "account/notifications.html", "account/_notifications.html"


@allow_get_or_post
def notifications(request: TeamRequest) -> HttpResponse:
    """Render the page; POST saves all boxes, and htmx gets the card."""
    if request.method == "POST":
        if save_notification_preferences(request.user, request.POST):
            record_account_event(request.user, AuditAction.NOTIFICATIONS_CHANGE, "own account")
        if not request.htmx:
            messages.success(request, "Notifications saved.")
            return redirect("account-notifications")
    context = {"rows": load_notification_rows(request.user), "saved": request.method == "POST"}
    return render(request, CARD_TEMPLATE if request.htmx else PAGE_TEMPLATE, context)
