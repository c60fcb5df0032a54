"""The single sign-on card: an owner sets it up, tests it, requires it, removes it."""

from __future__ import annotations

import logging
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditEvent, SingleSignOn, SingleSignOnSecret
from dashboard.security.actions.single_sign_on import require_single_sign_on, set_client_secret
from dashboard.shared.openid.client_secret import decrypt_client_secret
from proxyapi.credentials import encryption
from proxyapi.refusals import Refusal
from proxyapi.upstream.secret import Secret
from tests.dashboard.members.conftest import record_proof
from tests.dashboard.single_sign_on.conftest import (
    CLIENT_SECRET,
    come_back,
    create_single_sign_on,
    provider_url,
)

FORM = {
    "client_id": "reelroom",
    "groups_claim": "groups",
    "default_role": "viewer",
    "group_0": "video-admins",
    "role_0": "admin",
    "group_3": "studio",
    "role_3": "producer",
    "group_4": "",
    "role_4": "viewer",
}


@pytest.fixture
def owner(mira, client_of) -> Client:
    """Mira's browser, in which she has just signed in."""
    browser: Client = client_of(mira)
    record_proof(browser, mira)
    return browser


def test_the_password_is_asked_for_and_the_form_is_kept_meanwhile(mira, client_of, provider):
    answer = client_of(mira).post(reverse("sso-settings"), {**FORM, "issuer": provider.issuer})
    html = answer.content.decode()
    assert "Confirm that it is you." in html
    assert '<input type="hidden" name="group_3" value="studio">' in html
    assert not SingleSignOn.objects.exists()


def test_the_form_is_folded_until_there_are_settings(owner, provider):
    folded, opened = (
        '<details id="single-sign-on-set-up">',
        '<details id="single-sign-on-set-up" open>',
    )
    assert folded in owner.get(reverse("security")).content.decode()
    refused = owner.post(reverse("sso-settings"), {**FORM, "issuer": "x"}).content.decode()
    assert opened in refused  # what is wrong stands in the form
    edited = {**FORM, "issuer": provider.issuer, "edit": "add"}
    assert opened in owner.post(reverse("sso-settings"), edited).content.decode()
    owner.post(reverse("sso-settings"), {**FORM, "issuer": provider.issuer})
    saved = owner.get(reverse("security")).content.decode()
    assert "single-sign-on-set-up" not in saved
    assert 'id="single-sign-on-form"' in saved


def run_test(owner: Client, provider, subject: str, **claims: object):
    """Press Test, sign in at the provider, come back."""
    said = {"email": subject, "email_verified": True, **claims}
    provider.add_person(subject, **said)
    url = provider_url(owner.post(reverse("sso-tests")))
    return come_back(owner, provider.approve(url, subject))


def test_an_owner_sets_it_up(owner, provider, mira):
    owner.post(reverse("sso-settings"), {**FORM, "issuer": provider.issuer})
    row = SingleSignOn.objects.get()
    assert (row.team, row.issuer, row.created_by) == (mira.team, provider.issuer, mira.user)
    assert list(row.role_groups.values_list("group", "role")) == [
        ("video-admins", "admin"),
        ("studio", "producer"),
    ]
    answer = owner.post(reverse("sso-secrets"), {"client_secret": f" {CLIENT_SECRET} "})
    left_out_of_error_reports = answer.wsgi_request.sensitive_post_parameters
    assert left_out_of_error_reports == ("client_secret", "password")
    secret = row.secrets.get()
    assert decrypt_client_secret(secret).reveal() == CLIENT_SECRET
    assert CLIENT_SECRET.encode() not in bytes(secret.ciphertext)
    page = owner.get(reverse("security")).content.decode()
    assert "Set today by Mira Sandvik" in page
    assert "http://localhost:8000/accounts/oidc/callback/" in page
    assert reverse("team-single-sign-on", args=[row.pk]) in page
    assert "Not tested yet." in page


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"issuer": ""}, "Enter the issuer"),
        ({"issuer": "nonsense"}, "must start with https://"),
        ({"issuer": "http://127.0.0.1:9"}, "The provider did not answer."),
        ({"client_id": ""}, "Enter the client ID"),
        ({"group_3": "video-admins"}, "This group is in the list already."),
        ({"default_role": "owner"}, "Choose one from the list."),
        ({"role_0": "owner"}, "Choose one from the list."),
    ],
)
def test_what_cannot_be_saved_is_said_and_what_was_typed_stays(owner, provider, changes, sentence):
    answer = owner.post(reverse("sso-settings"), {**FORM, "issuer": provider.issuer, **changes})
    html = answer.content.decode()
    assert answer.status_code == 422
    assert sentence in html
    assert 'name="group_3"' in html
    assert 'value="video-admins"' in html
    assert not SingleSignOn.objects.exists()


def test_the_issuer_must_be_the_name_that_the_provider_gives_itself(owner, provider):
    form = {**FORM, "issuer": f"{provider.issuer}/"}
    html = owner.post(reverse("sso-settings"), form).content.decode()
    assert f"The provider calls itself “{provider.issuer}”." in html


def test_a_private_address_is_not_connected_to(owner, settings):
    settings.VIDEO_API_IS_SANDBOX = False
    for issuer in ("https://10.0.0.7", "http://127.0.0.1:9400", "https://127.0.0.1"):
        html = owner.post(reverse("sso-settings"), {**FORM, "issuer": issuer}).content.decode()
        assert "is not one that Reelroom connects to" in html


def test_a_group_is_added_and_removed_without_saving(owner, single_sign_on):
    values = {**FORM, "issuer": "https://not-read.example"}
    html = owner.post(reverse("sso-settings"), {**values, "edit": "add"}).content.decode()
    assert 'name="group_5"' in html
    assert "https://not-read.example" in html
    html = owner.post(reverse("sso-settings"), {**values, "edit": "remove-0"}).content.decode()
    assert 'name="group_0"' not in html
    assert 'value="studio"' in html
    assert not AuditEvent.objects.exists()


def test_a_test_shows_who_it_would_be_and_changes_nothing(owner, single_sign_on, provider, priya):
    page = run_test(owner, provider, priya.user.email, groups=["video-admins", "studio"])
    sentence = "priya@northlight.example, groups video-admins and studio, role admin."
    assert "The test passed" in page.content.decode()
    assert sentence in page.content.decode()
    priya.refresh_from_db()
    assert priya.role == "producer"
    assert owner.session["_auth_user_id"] != str(priya.user_id)
    html = owner.get(reverse("security")).content.decode()
    assert sentence in html
    assert AuditEvent.objects.get(action="single_sign_on.test").after["passed"] is True


def test_a_test_that_fails_is_told_in_the_providers_words(owner, single_sign_on, provider):
    client_id, _ = provider.register_client("http://localhost:8000/accounts/oidc/callback/")
    SingleSignOn.objects.update(client_id=client_id)
    page = run_test(owner, provider, "sam@northlight.example")
    assert "“invalid_client”" in page.content.decode()
    assert "“invalid_client”" in owner.get(reverse("security")).content.decode()
    row = SingleSignOn.objects.get()
    assert (row.test_passed, row.is_tested()) == (False, False)


def test_a_result_is_kept_only_for_the_owner_who_asked(
    owner, single_sign_on, provider, priya, client_of
):
    provider.add_person("sam", email="sam@northlight.example", email_verified=True)
    url = provider_url(owner.post(reverse("sso-tests")))
    location = provider.approve(url, "sam")
    browser = client_of(priya)
    session = browser.session
    session["openid_authorizations"] = owner.session["openid_authorizations"]
    session.save()
    assert come_back(browser, location).status_code == 422
    assert SingleSignOn.objects.get().tested_at is None


def test_it_is_required_only_after_a_test_with_the_settings_as_saved(
    owner, mira, single_sign_on, provider
):
    with pytest.raises(Refusal, match="Test the settings as they are saved first"):
        require_single_sign_on(by=mira, is_required=True)
    html = owner.get(reverse("security")).content.decode()
    assert "Available when a test has passed with the settings as saved." in html
    run_test(owner, provider, "mira@northlight.example")
    owner.post(reverse("sso-requirement"), {"is_required": "on"})
    assert SingleSignOn.objects.get().is_required
    owner.post(reverse("sso-requirement"))
    assert not SingleSignOn.objects.get().is_required
    changes = AuditEvent.objects.filter(action="single_sign_on.require")
    assert [row.after["required"] for row in changes.order_by("position")] == [True, False]


def test_another_provider_ends_the_requirement_and_other_roles_do_not(
    owner, mira, single_sign_on, provider
):
    run_test(owner, provider, "mira@northlight.example")
    require_single_sign_on(by=mira, is_required=True)
    owner.post(reverse("sso-settings"), {**FORM, "issuer": provider.issuer})
    row = SingleSignOn.objects.get()
    assert (row.is_required, row.default_role, row.is_tested()) == (True, "viewer", False)
    form = {**FORM, "issuer": provider.issuer, "client_id": "another"}
    owner.post(reverse("sso-settings"), form)
    assert not SingleSignOn.objects.get().is_required


def test_a_new_secret_waits_until_a_test_passes_with_it(owner, mira, single_sign_on, provider):
    old = single_sign_on.secrets.get()
    set_client_secret(by=mira, secret=Secret("the next secret"))
    assert single_sign_on.current_secret() == old
    assert "A new secret waits" in owner.get(reverse("security")).content.decode()
    run_test(owner, provider, "mira@northlight.example")
    (only,) = SingleSignOnSecret.objects.all()
    assert (only.is_current, decrypt_client_secret(only).reveal()) == (True, "the next secret")


def test_the_secret_is_in_no_log_no_audit_entry_and_no_page(
    owner, single_sign_on, provider, caplog
):
    caplog.set_level(logging.DEBUG)
    owner.post(reverse("sso-secrets"), {"client_secret": CLIENT_SECRET})
    run_test(owner, provider, "mira@northlight.example")
    texts = [caplog.text, owner.get(reverse("security")).content.decode()]
    texts += [str(row.__dict__) for row in AuditEvent.objects.all()]
    assert not [text for text in texts if CLIENT_SECRET in text]
    entry = AuditEvent.objects.get(action="single_sign_on.secret")
    assert entry.after == {"client_secret": "replaced, waits for a test"}


def test_removing_it_deletes_the_secret(owner, single_sign_on):
    owner.post(reverse("sso-removals"))
    assert not SingleSignOn.objects.exists()
    assert not SingleSignOnSecret.objects.exists()
    entry = AuditEvent.objects.get(action="single_sign_on.remove")
    assert entry.before["client_secret"] == "removed"


def test_an_admin_reads_it_and_changes_nothing(jonas, client_of, single_sign_on):
    browser = client_of(jonas)
    html = browser.get(reverse("security")).content.decode()
    assert "Only owners change this" in html
    assert browser.post(reverse("sso-settings"), FORM).status_code == 403


def test_the_secret_is_encrypted_again_with_a_new_key(single_sign_on, settings):
    settings.ENCRYPTION_KEYS = (
        f"new:{encryption.generate_encryption_key()},{settings.ENCRYPTION_KEYS}"
    )
    out = StringIO()
    call_command("rotate_keys", "--dry-run", stdout=out)
    assert "1 client secrets need an old key." in out.getvalue()
    call_command("rotate_keys", stdout=StringIO())
    secret = SingleSignOnSecret.objects.get()
    assert encryption.envelope_key_id(bytes(secret.ciphertext)) == "new"
    assert decrypt_client_secret(secret).reveal() == CLIENT_SECRET


@pytest.mark.parametrize(
    "fields",
    [
        {"default_role": "owner"},
        {"is_required": True},
        {"test_passed": True},
        {"tested_settings": "x"},
        {"tested_at": timezone.now()},
        {"issuer": ""},
    ],
)
def test_the_database_refuses_settings_that_must_not_be(northlight, fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        create_single_sign_on(northlight, **{"issuer": "https://login.example", **fields})


def test_the_database_refuses_an_owners_group_and_a_second_current_secret(single_sign_on):
    with pytest.raises(IntegrityError), transaction.atomic():
        single_sign_on.role_groups.create(position=9, group="chiefs", role="owner")
    with pytest.raises(IntegrityError), transaction.atomic():
        single_sign_on.secrets.create(ciphertext=b"x", is_current=True)


def test_no_dump_has_a_client_secret(single_sign_on, tmp_path: Path):
    path = tmp_path / "dump.json"
    call_command("dumpdata", "dashboard.SingleSignOnSecret", output=str(path), stdout=StringIO())
    assert CLIENT_SECRET not in path.read_text()
