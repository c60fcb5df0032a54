"""Rotate the key online: who may, batches that survive a killed worker, and a lost key."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard import tasks
from dashboard.models import AuditEvent, KeyRotation, KeyRotationState, User
from dashboard.operations import key_rotation as actions
from dashboard.operations.key_rotation import rotate_next_batch, start_key_rotation
from proxyapi.credentials import encryption, key_rotation, token_vault
from proxyapi.models import Token
from proxyapi.refusals import Refusal
from tests.factories import AccountFactory, TokenFactory

pytestmark = pytest.mark.postgresql

OLD, NEW = (
    f"old:{encryption.generate_encryption_key()}",
    f"new:{encryption.generate_encryption_key()}",
)
URL = "/operations/key-rotations/"


@pytest.fixture
def operator(mira):
    """Mira, who also operates the installation."""
    User.objects.filter(pk=mira.user_id).update(is_superuser=True)
    mira.user.refresh_from_db()
    return mira


@pytest.fixture
def tokens(operator, settings):
    """Five tokens under the old key; the new one stands in front of it now."""
    settings.ENCRYPTION_KEYS = OLD
    account = AccountFactory.create(tenant=operator.team.tenant)
    made = TokenFactory.create_batch(5, account=account)
    settings.ENCRYPTION_KEYS = f"{NEW},{OLD}"
    return made


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(key_rotation.reencrypt_batch, "__defaults__", ((), None, 2))


def under_new():
    blobs = Token.objects.values_list("ciphertext", flat=True)
    return sum(encryption.envelope_key_id_or_blank(bytes(blob)) == "new" for blob in blobs)


def run_to_the_end(rotation):
    while rotate_next_batch(rotation.pk):
        pass
    rotation.refresh_from_db()
    return rotation


def test_workers_encrypt_everything_again_in_batches(operator, tokens, small_batches):
    rotation = start_key_rotation(by=operator)
    assert (rotation.key_id, rotation.total) == ("new", 5)
    assert rotate_next_batch(rotation.pk)
    rotation.refresh_from_db()
    assert (rotation.done, under_new()) == (2, 2)
    run_to_the_end(rotation)
    assert (rotation.done, rotation.state) == (5, KeyRotationState.DONE)
    for token in Token.objects.all():
        assert token_vault.decrypt_token(token).reveal() == f"sbx_{token.pk}"
    actions_of_log = list(AuditEvent.objects.order_by("position").values_list("action", flat=True))
    assert actions_of_log == ["key_rotation.start", "key_rotation.end"]
    end = AuditEvent.objects.get(action="key_rotation.end")
    assert end.after == {"key": "new", "secrets": 5, "outcome": "done"}


def test_what_a_killed_worker_left_is_done_by_the_next_one(
    operator, tokens, small_batches, monkeypatch
):
    rotation = start_key_rotation(by=operator)

    def die(*_):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(actions, "save_batch", die)
        with pytest.raises(SystemExit):
            rotate_next_batch(rotation.pk)
    assert not rotate_next_batch(rotation.pk)  # its lease has not expired
    assert not KeyRotation.objects.filter(actions.expired_lease()).exists()
    KeyRotation.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert KeyRotation.objects.filter(actions.expired_lease()).exists()
    run_to_the_end(rotation)
    assert (under_new(), rotation.state) == (5, KeyRotationState.DONE)


def test_the_sweep_finds_a_rotation_that_was_never_enqueued(operator, tokens, monkeypatch):
    rotation, sent = start_key_rotation(by=operator), list[str]()
    monkeypatch.setattr(tasks.rotate_keys, "delay", sent.append)
    tasks.sweep_key_rotations()
    assert sent == [str(rotation.pk)]


def test_a_secret_that_no_key_decrypts_stops_it_and_is_named(
    operator, tokens, small_batches, client_of
):
    lost = tokens[2]
    Token.objects.filter(pk=lost.pk).update(ciphertext=b"\x01\x04gone" + bytes(60))
    rotation = run_to_the_end(start_key_rotation(by=operator))
    assert (rotation.state, rotation.done, under_new()) == ("stopped", 4, 4)
    assert str(lost.pk) in rotation.problem
    page = client_of(operator).get("/operations/").content.decode()
    assert "A secret cannot be decrypted with any key." in page
    assert str(lost.pk) in page
    end = AuditEvent.objects.get(action="key_rotation.end")
    assert str(lost.pk) in end.details["unreadable"][0]


def test_a_worker_with_other_keys_says_so(operator, tokens, settings):
    rotation = start_key_rotation(by=operator)
    settings.ENCRYPTION_KEYS = OLD
    assert not rotate_next_batch(rotation.pk)
    rotation.refresh_from_db()
    assert (rotation.state, rotation.problem) == ("stopped", actions.OTHER_KEYS)


def test_one_key_is_not_enough(operator, client_of, settings):
    settings.ENCRYPTION_KEYS = OLD
    page = client_of(operator).get("/operations/").content.decode()
    assert "Add a second key to ENCRYPTION_KEYS first" in page
    with pytest.raises(Refusal, match="Add a second key"):
        start_key_rotation(by=operator)


def test_nothing_left_starts_nothing(operator, tokens):
    run_to_the_end(start_key_rotation(by=operator))
    with pytest.raises(Refusal, match="under the new key already"):
        start_key_rotation(by=operator)


def test_only_one_rotation_runs(operator, tokens):
    start_key_rotation(by=operator)
    with pytest.raises(Refusal, match="running already"):
        start_key_rotation(by=operator)
    with pytest.raises(IntegrityError), transaction.atomic():
        KeyRotation.objects.create(
            team=operator.team, started_by=operator.user, key_id="new", total=1
        )


def test_the_dialog_asks_for_the_password(operator, tokens, client_of, monkeypatch):
    browser = client_of(operator)
    assert "Encrypt every secret with" in browser.get(URL).content.decode()
    assert browser.post(URL, {"password": "wrong"}).status_code == 422
    assert not KeyRotation.objects.exists()
    operator.user.set_password("four words in a row")
    operator.user.save()
    browser = client_of(operator)
    assert browser.post(URL, {"password": "four words in a row"}).url == "/operations/"
    assert KeyRotation.objects.get().started_by == operator.user


@pytest.mark.parametrize("role", ["jonas", "thea", "priya", "vera"])
def test_the_rotation_does_not_exist_for_who_does_not_operate_the_installation(
    role, request, tokens, client_of
):
    reader = client_of(request.getfixturevalue(role))
    assert reader.get(URL).status_code == reader.post(URL).status_code == 404
    assert not KeyRotation.objects.exists()


def test_an_admin_sees_who_rotates(jonas, tokens, client_of):
    page = client_of(jonas).get("/operations/").content.decode()
    assert "The operator of this installation rotates the keys." in page
    assert URL not in page
