"""The card of notifications: defaults, one person's choices, and what cannot be switched off."""

from __future__ import annotations

import re

from dashboard.models import NotificationKind, NotificationPreference
from dashboard.shared.notifications import channels_of

URL = "/account/notifications/"
HTMX = {"HX-Request": "true"}


def ticked(html):
    boxes = re.findall(r"<input type=\"checkbox\"[^>]*>", html)
    named = {re.search(r'name="([^"]+)"', box): "checked" in box for box in boxes}
    return {match[1] for match, is_checked in named.items() if match and is_checked}


def test_by_default_all_is_told_in_the_portal_and_four_kinds_by_email(priya, client_of):
    html = client_of(priya).get(URL).content.decode()
    assert ticked(html) == {
        "video_done-portal",
        "video_failed-portal",
        "render_not_sent-portal",
        "batch_ended-portal",
        "series_paused-portal",
        "series_paused-email",
        "request_answered-portal",
        "request_answered-email",
        "token_stopped-portal",
        "token_stopped-email",
        "monthly_report-portal",
        "monthly_report-email",
    }


def test_a_box_is_saved_for_that_person_alone(priya, luca, client_of):
    answer = client_of(priya).post(
        URL, {"video_done-email": "on", "token_stopped-portal": "on"}, headers=HTMX
    )
    html = answer.content.decode()
    assert html.lstrip().startswith("<form")
    assert ticked(html) == {"video_done-email", "token_stopped-portal"}
    assert channels_of(priya.user)[NotificationKind.VIDEO_DONE] == (False, True)
    assert channels_of(luca.user)[NotificationKind.VIDEO_DONE] == (True, False)
    assert NotificationPreference.objects.filter(user=priya.user).count() == len(NotificationKind)


def test_what_is_always_told_is_shown_and_cannot_be_changed(vera, client_of):
    browser = client_of(vera)
    html = browser.get(URL).content.decode()
    assert "My role or my place in a team changed" in html
    assert len(re.findall(r"<input type=\"checkbox\"[^>]* disabled", html)) == 4
    assert browser.post(URL, {"unknown-portal": "on"}).status_code == 302
    kinds = NotificationPreference.objects.values_list("kind", flat=True)
    assert set(kinds) <= set(NotificationKind.values)


def test_without_javascript_the_page_comes_back_with_a_message(priya, client_of):
    html = client_of(priya).post(URL, {}, follow=True).content.decode()
    assert "Notifications saved." in html
    assert "Save notifications" in html
