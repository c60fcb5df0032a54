"""Files of members that wait to be sent: encrypted, bound to their row, rotated and pruned."""

from __future__ import annotations

import hashlib
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.models import Membership
from proxyapi import stored_files
from proxyapi.credentials import encryption
from proxyapi.models import StoredFile, Storyboard
from proxyapi.tasks import prune_stored_files_task
from tests.factories import JobFactory
from tests.storyboards import add_scene, create_storyboard, create_storyboard_token

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
CONTENT = b"RIFF" + bytes(range(256)) * 40


@pytest.fixture
def stored_file() -> StoredFile:
    return stored_files.store_file(
        JobFactory(), name="voice.wav", content_type="audio/wav", content=CONTENT, seconds=31.5
    )


def test_a_stored_file_is_encrypted_and_read_back(stored_file: StoredFile) -> None:
    row = StoredFile.objects.get()
    assert CONTENT[:64] not in bytes(row.ciphertext)
    assert stored_files.read_stored_file(row) == CONTENT
    assert (row.size, row.seconds) == (len(CONTENT), 31.5)
    assert row.sha256 == hashlib.sha256(CONTENT).hexdigest()


def test_the_content_of_another_row_does_not_decrypt(stored_file: StoredFile) -> None:
    other = stored_files.store_file(
        JobFactory(), name="b.wav", content_type="audio/wav", content=b"other"
    )
    other.ciphertext = stored_file.ciphertext
    with pytest.raises(encryption.DecryptionFailed):
        stored_files.read_stored_file(other)


def test_a_rotation_encrypts_files_again(stored_file: StoredFile, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = (
        f"new:{encryption.generate_encryption_key()},{settings.ENCRYPTION_KEYS}"
    )
    call_command("rotate_keys", stdout=StringIO())
    row = StoredFile.objects.get()
    assert encryption.envelope_key_id(bytes(row.ciphertext)) == "new"
    assert stored_files.read_stored_file(row) == CONTENT


def test_a_rotation_names_files_that_do_not_decrypt(stored_file: StoredFile) -> None:
    StoredFile.objects.update(ciphertext=b"\x01\x03old" + bytes(60))
    with pytest.raises(CommandError, match="1 secrets could not be decrypted"):
        call_command("rotate_keys", stdout=StringIO())


def test_only_files_that_wait_too_long_are_pruned(stored_file: StoredFile) -> None:
    prune_stored_files_task()
    assert StoredFile.objects.exists()
    StoredFile.objects.update(created_at=timezone.now() - stored_files.RETENTION)
    prune_stored_files_task()
    assert not StoredFile.objects.exists()


def test_a_frame_is_kept_as_long_as_its_storyboard_uses_it(priya: Membership) -> None:
    board = create_storyboard(priya, create_storyboard_token(priya))
    used, _ = (
        stored_files.store_file(board, name=name, content_type="image/png", content=CONTENT)
        for name in ("used.png", "unused.png")
    )
    add_scene(board, "A boat", last_frame={"file": str(used.pk), "name": "used.png"})
    StoredFile.objects.update(created_at=timezone.now() - stored_files.RETENTION)
    prune_stored_files_task()
    assert list(StoredFile.objects.all()) == [used]
    Storyboard.objects.update(hidden_at=timezone.now())
    prune_stored_files_task()
    assert not StoredFile.objects.exists()


def test_a_stored_file_belongs_to_a_job_or_to_a_storyboard(stored_file: StoredFile) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        StoredFile.objects.update(job=None)
