"""The page of the e-mails of a demo: which are kept, and who reads whose."""

from __future__ import annotations

import pytest
from django.core.mail import EmailMultiAlternatives
from django.urls import reverse
from django.utils import timezone

from dashboard.demo_mails.kept_mails import MAX_KEPT_MAILS, load_mails_for
from dashboard.members.actions.invitation_mail import mail_invitation
from dashboard.models import Invitation, User
from tests.factories import InvitationFactory
from tests.pages import page_text

BACKEND = "dashboard.demo_mails.kept_mails.KeepingMailBackend"


@pytest.fixture(autouse=True)
def demo(settings):
    settings.EMAIL_BACKEND, settings.DEMO_SHOWS_MAILS = BACKEND, True


@pytest.fixture
def operator(mira):
    User.objects.filter(pk=mira.user_id).update(is_superuser=True)
    mira.user.refresh_from_db()
    return mira


def send(subject, address, text="Open https://reelroom.example/reset/ then.", html=""):
    message = EmailMultiAlternatives(subject, text, None, [address])
    if html:
        message.attach_alternative(html, "text/html")
    message.send()


def test_an_operator_reads_all_and_others_those_to_them(operator, priya, client_of):
    send("For Priya", priya.user.email)
    send("For Vera", "vera@northlight.example")
    url = reverse("demo-mails")
    page = client_of(operator).get(url).content.decode()
    assert page.index("For Vera") < page.index("For Priya")
    page = client_of(priya).get(url).content.decode()
    assert "For Priya" in page
    assert "For Vera" not in page


def test_a_mail_to_somebody_else_does_not_exist(mira, priya, client_of):
    """An owner of a team is no operator: the link in it would open the other person's account."""
    send("For Priya", priya.user.email, html="<p>Hello</p>")
    kept = load_mails_for(priya.user)[0]
    for name in ("demo-mail", "demo-mail-html"):
        url = reverse(name, args=[kept.id])
        assert client_of(priya).get(url).status_code == 200
        assert client_of(mira).get(url).status_code == 404


def test_who_is_not_signed_in_reads_none(priya, client):
    send("For Priya", priya.user.email)
    for url in (
        reverse("demo-mails"),
        reverse("demo-mail", args=[load_mails_for(priya.user)[0].id]),
    ):
        assert client.get(url).url.startswith(reverse("account_login"))


def test_the_text_is_shown_with_its_links(priya, client_of):
    send("Hello <b>", priya.user.email, "Open https://reelroom.example/x/ <script>")
    mail_id = load_mails_for(priya.user)[0].id
    page = client_of(priya).get(reverse("demo-mail", args=[mail_id])).content.decode()
    assert '<a href="https://reelroom.example/x/" rel="nofollow">' in page
    assert "&lt;script&gt;" in page
    assert "Hello &lt;b&gt;" in page
    assert "<iframe" not in page


def test_the_html_is_in_a_frame_without_scripts_and_forms(priya, client_of):
    send("Hello", priya.user.email, html="<html><head></head><body>In colour</body></html>")
    mail_id = load_mails_for(priya.user)[0].id
    url = reverse("demo-mail-html", args=[mail_id])
    page = client_of(priya).get(reverse("demo-mail", args=[mail_id]))
    assert f'src="{url}"' in page.content.decode()
    assert "frame-src 'self'" in page.headers["Content-Security-Policy"]
    frame = client_of(priya).get(url)
    assert "In colour" in frame.content.decode()
    assert '<base target="_top">' in frame.content.decode()
    policy = frame.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "frame-ancestors 'self'"} <= set(policy)
    assert "sandbox allow-top-navigation-by-user-activation" in policy
    assert frame.headers["X-Frame-Options"] == "SAMEORIGIN"


def test_a_mail_is_in_the_log_as_text(priya, capsys):
    send("Hello", priya.user.email, "Plain words", "<p>In colour</p>")
    log = capsys.readouterr().out
    assert "Plain words" in log
    assert "In colour" not in log
    assert load_mails_for(priya.user)[0].html == "<p>In colour</p>"


def test_the_newest_hundred_are_kept(priya):
    for number in range(MAX_KEPT_MAILS + 2):
        send(f"Mail {number}", priya.user.email)
    kept = load_mails_for(priya.user)
    assert (len(kept), kept[0].subject, kept[-1].subject) == (100, "Mail 101", "Mail 2")


def test_without_redis_the_mail_is_in_the_log_and_the_page_says_so(
    priya, client_of, settings, capsys
):
    browser = client_of(priya)
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    send("Hello", priya.user.email, "Plain words")
    assert "Plain words" in capsys.readouterr().out
    page = page_text(browser.get(reverse("demo-mails")).content)
    assert "Redis does not answer, so the e-mails cannot be shown." in page


def test_outside_a_demo_no_page_and_no_link_exists(operator, client_of, settings):
    send("For Mira", operator.user.email)
    mail_id = load_mails_for(operator.user)[0].id
    settings.DEMO_SHOWS_MAILS = False
    browser = client_of(operator)
    for name, ids in (("demo-mails", []), ("demo-mail", [mail_id]), ("demo-mail-html", [mail_id])):
        assert browser.get(reverse(name, args=ids)).status_code == 404
    for name in ("members", "invitations", "account", "instance", "alert-deliveries", "security"):
        assert "/demo/mails/" not in browser.get(reverse(name)).content.decode(), name


@pytest.mark.parametrize(
    "name",
    [
        *("members", "invitations", "account", "instance", "instance-teams"),
        *("alert-deliveries", "security"),
    ],
)
def test_pages_that_announce_mails_lead_to_them(name, operator, priya, client_of, monkeypatch):
    monkeypatch.setattr(
        "dashboard.shared.recent_authentication.is_authentication_recent", lambda _: True
    )
    page = client_of(operator).get(reverse(name)).content.decode()
    assert f'href="{reverse("demo-mails")}"' in page


@pytest.mark.parametrize("name", ["account_reset_password", "account_reset_password_done"])
def test_who_has_forgotten_a_password_learns_where_the_mail_is(name, client, db):
    assert "reads them on a page of the demo, too" in page_text(client.get(reverse(name)).content)


def test_an_invitation_is_read_with_its_link(operator, client_of):
    InvitationFactory.create(team=operator.team, mail_due_at=timezone.now())
    mail_invitation(Invitation.objects.get().pk)
    browser = client_of(operator)
    kept = load_mails_for(operator.user)[0]
    page = browser.get(reverse("demo-mail", args=[kept.id])).content.decode()
    assert "/join/" in page
    html = browser.get(reverse("demo-mail-html", args=[kept.id])).content.decode()
    assert "/join/" in html


def test_the_pages_take_the_same_queries_for_any_number_of_mails(
    priya, client_of, django_assert_num_queries
):
    browser = client_of(priya)
    browser.get(reverse("demo-mails"))
    send("One", priya.user.email)
    with django_assert_num_queries(9):
        browser.get(reverse("demo-mails"))
    for number in range(9):
        send(f"Mail {number}", priya.user.email)
    with django_assert_num_queries(9):
        browser.get(reverse("demo-mails"))
