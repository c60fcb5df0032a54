"""Invite people: what is sent, to whom, what the team sees of it, and what ends it."""

from __future__ import annotations

import re
import smtplib
from collections.abc import Callable
from datetime import timedelta
from html import escape, unescape
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard import tasks
from dashboard.members.actions.invitation_mail import RETRY_DELAYS
from dashboard.members.forms.invitations import MAX_ADDRESSES
from dashboard.models import AuditEvent, Invitation, Membership, Role, hash_invitation_key
from dashboard.monitoring.log_format import redact_text
from tests.factories import InvitationFactory, MembershipFactory

ClientOf = Callable[..., Client]
SAM = "sam.okafor@northlight.example"
PORTAL = "https://reelroom.example"
SEND = "django.core.mail.backends.locmem.EmailBackend.send_messages"


@pytest.fixture(autouse=True)
def _portal(settings: Any) -> None:
    settings.PORTAL_URL = PORTAL


def invite(browser: Client, addresses: str, role: str = "producer", message: str = "") -> Any:
    form = {"addresses": addresses, "role": role, "message": message}
    return browser.post(reverse("invitations"), form)


def mail_due_invitations() -> None:
    """What the sweep has workers do."""
    for id in Invitation.objects.due(timezone.now()).values_list("pk", flat=True):
        tasks.send_invitation(str(id))


def act(browser: Client, name: str, invitation: Invitation) -> str:
    response = browser.post(reverse(name, args=[invitation.pk]), follow=True)
    assert response.status_code == 200
    return str(response.content.decode())


def key_in(message: mail.EmailMessage) -> str:
    (key,) = re.findall(rf"{PORTAL}/join/(\S+)/", str(message.body))
    return str(key)


def test_several_addresses_are_invited_at_once_each_with_a_link_of_its_own(
    mira: Membership, client_of: ClientOf, mailoutbox: list[Any]
) -> None:
    words = f"{SAM.upper()}, ben@brightcut.example\nelena@brightcut.example; {SAM}"
    assert invite(client_of(mira), words, "viewer", "See the <b>series</b>").status_code == 302
    mail_due_invitations()
    invitations = list(Invitation.objects.order_by("address"))
    assert [row.address.partition("@")[0] for row in invitations] == ["ben", "elena", "sam.okafor"]
    assert {message.to[0] for message in mailoutbox} == {row.address for row in invitations}
    keys = {message.to[0]: key_in(message) for message in mailoutbox}
    for row in invitations:
        assert row.key_hash == hash_invitation_key(keys[row.address])
        assert row.mail_due_at is None
    message = mailoutbox[0]
    assert message.subject == "Mira Sandvik invites you to Northlight on Reelroom"
    assert "as viewer" in message.body
    assert "See the <b>series</b>" in message.body
    assert "See the &lt;b&gt;series" in message.alternatives[0][0]
    assert AuditEvent.objects.filter(action="invitation.create").count() == 3


@pytest.mark.parametrize(
    ("addresses", "sentence"),
    [
        ("", "Enter at least one e-mail address."),
        (" ,;\n", "Enter at least one e-mail address."),
        ("sam@", "sam@ is not an e-mail address."),
        ("anná@b.example", "anná@b.example has other letters than a to z before the @."),
        ("a" * 6001, "At most 6000 characters are allowed (now 6001)."),
        ("VERA@northlight.example", "vera@northlight.example is already a member."),
        ("elena@brightcut.example", "is already invited. Resend that invitation."),
        ("<script>@b.example", "&lt;script&gt;@b.example is not an e-mail address."),
    ],
)
def test_a_wrong_address_is_named_and_nothing_is_sent(
    addresses: str, sentence: str, mira: Membership, vera: Membership, client_of: ClientOf
) -> None:
    InvitationFactory.create(team=mira.team, address="elena@brightcut.example")
    response = invite(client_of(mira), addresses, message="Kept as typed")
    assert response.status_code == 422
    page = response.content.decode()
    assert sentence in page
    assert "Kept as typed" in page
    assert escape(addresses.strip()) in page
    assert Invitation.objects.count() == 1


@pytest.mark.parametrize(
    "typed",
    [
        '"Anna Berg" <anna@brightcut.example>, "Berg, Ben" <ben@brightcut.example>',
        "Anna Berg <anna@brightcut.example>; Berg, Ben <BEN@brightcut.example>;",
        "Anna Berg <anna@brightcut.example> Ben <ben@brightcut.example>",
        "anna@brightcut.example\nBen Berg\t<ben@brightcut.example>\n",
        "<anna@brightcut.example>,<ben@brightcut.example>",
    ],
)
def test_addresses_are_taken_as_mail_programs_write_them(
    typed: str, mira: Membership, client_of: ClientOf
) -> None:
    assert invite(client_of(mira), typed).status_code == 302
    addresses = set(Invitation.objects.values_list("address", flat=True))
    assert addresses == {"anna@brightcut.example", "ben@brightcut.example"}


def test_the_good_addresses_are_invited_and_the_others_stay_with_the_reason(
    mira: Membership, vera: Membership, client_of: ClientOf
) -> None:
    good = [f"a{n}@b.example" for n in range(MAX_ADDRESSES + 2)]
    typed = ["Vera <vera@northlight.example>", *good, "sam@"]
    response = invite(client_of(mira), "\n".join(typed), "viewer", "Kept as typed")
    assert response.status_code == 422
    invited = set(Invitation.objects.values_list("address", "role"))
    assert invited == {(address, "viewer") for address in good[:MAX_ADDRESSES]}
    page = response.content.decode()
    rest = page.partition('id="id_addresses"')[2].partition(">")[2].partition("</textarea>")[0]
    assert unescape(rest).split("\n")[1:] == [typed[0], *good[MAX_ADDRESSES:], "sam@"]
    assert "20 invitations are being sent." in page
    assert "vera@northlight.example is already a member." in page
    assert "sam@ is not an e-mail address." in page
    assert "2 more addresses stay in the list, because 20 are invited at once." in page
    assert "\nKept as typed</textarea>" in page
    assert re.search(r'value="viewer"[^>]* checked', page)


def test_of_a_long_list_of_words_some_are_named_and_the_others_counted(
    mira: Membership, client_of: ClientOf
) -> None:
    page = invite(client_of(mira), " ".join(f"word{n}" for n in range(25))).content.decode()
    assert "word19 is not an e-mail address." in page
    assert "word20 is not" not in page
    assert "5 more of the list cannot be invited." in page


def test_the_form_says_nothing_about_accounts_of_other_teams(
    mira: Membership, otto: Membership, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    browser, answers = client_of(mira), []
    invite(browser, "warm@up.example")
    for address in (otto.user.email, "nobody@otherwhere.example"):
        with django_assert_num_queries(14):
            answers.append(invite(browser, address))
    assert [answer.status_code for answer in answers] == [302, 302]


@pytest.mark.parametrize(
    ("who", "role", "status"),
    [
        *(("mira", "admin", 302), ("mira", "treasurer", 302), ("mira", "owner", 422)),
        *(("jonas", "admin", 302), ("jonas", "viewer", 302), ("jonas", "treasurer", 422)),
        *(("thea", "viewer", 403), ("priya", "viewer", 403), ("mira", "emperor", 422)),
    ],
)
def test_one_invites_with_roles_whose_permissions_one_has_and_never_an_owner(
    who: str, role: str, status: int, request: Any, mira: Membership, client_of: ClientOf
) -> None:
    member = request.getfixturevalue(who)
    assert invite(client_of(member), SAM, role).status_code == status
    assert Invitation.objects.count() == (status == 302)


def test_an_hour_has_a_limit_for_the_team_and_one_for_the_address(
    mira: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira)
    invite(browser, SAM)
    row = Invitation.objects.get()
    pages = [act(browser, "invitation-mails", row) for _ in range(5)]
    assert ["gets a new link" in page for page in pages] == [True] * 4 + [False]
    for batch in range(3):
        invite(browser, " ".join(f"a{batch}{n}@b.example" for n in range(18)))
    assert (
        "as many invitations as are allowed"
        in invite(browser, " ".join(f"c{n}@b.example" for n in range(9))).content.decode()
    )


def test_a_resent_invitation_has_a_new_link_and_seven_days_again(
    mira: Membership, client_of: ClientOf, mailoutbox: list[Any]
) -> None:
    browser = client_of(mira)
    invite(browser, SAM)
    mail_due_invitations()
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        # The session of the browser has ended by then.
        browser = client_of(mira)
        assert "Expired" in browser.get(reverse("members")).content.decode()
        act(browser, "invitation-mails", Invitation.objects.get())
        mail_due_invitations()
        first, second = map(key_in, mailoutbox)
        assert Client().get(reverse("invitation", args=[first])).status_code == 404
        assert Client().get(reverse("invitation", args=[second])).status_code == 302


def test_an_expired_invitation_is_replaced_by_a_new_one(
    mira: Membership, client_of: ClientOf
) -> None:
    past = timezone.now() - timedelta(minutes=1)
    old = InvitationFactory.create(team=mira.team, address=SAM, expires_at=past)
    assert invite(client_of(mira), SAM, "viewer").status_code == 302
    old.refresh_from_db()
    assert old.state == "revoked"
    assert Invitation.objects.pending().get().role == Role.VIEWER


def test_a_revoked_link_ends_until_that_is_undone(mira: Membership, client_of: ClientOf) -> None:
    row, browser = InvitationFactory.create(team=mira.team, address=SAM), client_of(mira)
    link = reverse("invitation", args=[f"key-of-{SAM}"])
    page = act(browser, "invitation-revocations", row)
    assert reverse("invitation-restorations", args=[row.pk]) in page
    assert "This invitation was revoked" in Client().get(link, follow=True).content.decode()
    assert "accepted or revoked meanwhile" in act(browser, "invitation-mails", row)
    act(browser, "invitation-restorations", row)
    assert Client().get(link, follow=True).status_code == 200
    actions = AuditEvent.objects.order_by("position").values_list("action", flat=True)
    assert list(actions) == ["invitation.revoke", "invitation.restore"]


def test_a_revocation_is_not_undone_after_a_new_invitation(
    mira: Membership, client_of: ClientOf
) -> None:
    row, browser = InvitationFactory.create(team=mira.team, address=SAM), client_of(mira)
    act(browser, "invitation-revocations", row)
    invite(browser, SAM)
    assert "Nothing was changed." in act(browser, "invitation-restorations", row)
    assert Invitation.objects.pending().count() == 1


def test_who_became_a_member_meanwhile_gets_no_new_link(
    mira: Membership, client_of: ClientOf
) -> None:
    row = InvitationFactory.create(team=mira.team, address=SAM)
    MembershipFactory.create(team=mira.team, user__email=SAM)
    assert "is a member already" in act(client_of(mira), "invitation-mails", row)


def test_a_mail_server_that_is_away_gets_it_later_and_the_page_says_so(
    mira: Membership, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch, mailoutbox: list[Any]
) -> None:
    browser = client_of(mira)
    invite(browser, SAM)
    with monkeypatch.context() as patch:
        patch.setattr(SEND, refuse_connection)
        mail_due_invitations()
    page = browser.get(reverse("members")).content.decode()
    assert "The mail server did not accept it. It is sent again automatically." in page
    mail_due_invitations()
    assert not mailoutbox
    with time_machine.travel(timezone.now() + RETRY_DELAYS[0] + timedelta(seconds=1)):
        mail_due_invitations()
    assert len(mailoutbox) == 1
    assert Invitation.objects.get().mail_error == ""


def test_it_is_given_up_after_six_attempts(
    mira: Membership, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SEND, refuse_connection)
    invite(client_of(mira), SAM)
    with time_machine.travel(timezone.now(), tick=False) as now:
        for _ in range(8):
            mail_due_invitations()
            now.shift(timedelta(hours=7))
    row = Invitation.objects.get()
    assert (row.mail_attempts, row.mail_due_at) == (6, None)
    assert "not sent again automatically" in row.mail_error


def test_an_address_that_the_mail_server_rejects_is_not_tried_again(
    mira: Membership, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise smtplib.SMTPRecipientsRefused({SAM: (552, b"mailbox full")})

    monkeypatch.setattr(SEND, refuse)
    invite(client_of(mira), SAM)
    mail_due_invitations()
    row = Invitation.objects.get()
    assert (row.mail_error, row.mail_due_at) == (
        "The mail server rejected this address (552).",
        None,
    )


def test_a_portal_without_a_mail_server_says_how_people_are_added(
    mira: Membership, client_of: ClientOf, settings: Any
) -> None:
    settings.PASSWORD_RESET_BY_EMAIL = False
    browser = client_of(mira)
    page = browser.get(reverse("invitations")).content.decode()
    assert "This portal sends no e-mail." in page
    assert invite(browser, SAM).status_code == 422
    assert not Invitation.objects.exists()


def test_the_log_of_a_request_has_no_key_and_a_mail_without_a_mail_server_has() -> None:
    """The mail is written to the log then, where its reader finds the link."""
    key = "aB3-" * 10
    assert redact_text(f"GET /join/{key}/ 302") == "GET /join/[redacted] 302"
    assert redact_text(f"http://127.0.0.1:8000/join/{key}/") == f"http://127.0.0.1:8000/join/{key}/"
    assert redact_text("POST /join/acceptances/ 302") == "POST /join/acceptances/ 302"


def test_two_workers_send_one_mail(
    mira: Membership, client_of: ClientOf, mailoutbox: list[Any]
) -> None:
    invite(client_of(mira), SAM)
    id = str(Invitation.objects.get().pk)
    tasks.send_invitation(id)
    tasks.send_invitation(id)
    assert len(mailoutbox) == 1


def refuse_connection(*_: object) -> None:
    raise smtplib.SMTPServerDisconnected
