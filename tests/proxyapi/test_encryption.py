"""A sealed value opens for its own row, with its own key, unchanged; or it does not open."""

from __future__ import annotations

import base64

import pytest

from proxyapi.credentials import encryption
from proxyapi.credentials.encryption import DecryptionFailed, EncryptionError, KeyRing, decrypt

ROW = "token:5f0c"
PLAIN = b"sbx_a_token_of_miras"
ONE, TWO = encryption.generate_encryption_key(), encryption.generate_encryption_key()


@pytest.fixture
def key_ring():
    return KeyRing.parse(f"k1:{ONE}")


@pytest.fixture
def ciphertext(key_ring):
    return encryption.encrypt(PLAIN, ROW, key_ring)


def test_a_sealed_value_opens_for_its_row(key_ring, ciphertext):
    assert PLAIN not in ciphertext
    assert decrypt(ciphertext, ROW, key_ring) == PLAIN


def test_an_empty_value_and_a_row_with_an_umlaut_are_fine(key_ring):
    assert decrypt(encryption.encrypt(b"", "zeile:ü", key_ring), "zeile:ü", key_ring) == b""


def test_the_same_value_never_encrypts_the_same_twice(key_ring, ciphertext):
    assert encryption.encrypt(PLAIN, ROW, key_ring) != ciphertext


def test_a_value_moved_to_another_row_stays_shut(key_ring, ciphertext):
    with pytest.raises(DecryptionFailed):
        decrypt(ciphertext, "token:5f0d", key_ring)


def test_any_flipped_bit_keeps_it_shut(key_ring, ciphertext):
    for place in range(len(ciphertext)):
        for bit in range(8):
            flipped = bytearray(ciphertext)
            flipped[place] ^= 1 << bit
            with pytest.raises(DecryptionFailed):
                decrypt(bytes(flipped), ROW, key_ring)


def test_any_cut_and_any_addition_keeps_it_shut(key_ring, ciphertext):
    for length in range(len(ciphertext)):
        with pytest.raises(DecryptionFailed):
            decrypt(ciphertext[:length], ROW, key_ring)
    with pytest.raises(DecryptionFailed):
        decrypt(ciphertext + b"\0", ROW, key_ring)


def test_a_value_relabelled_to_another_key_stays_shut(key_ring, ciphertext):
    twins = KeyRing("k1", {"k1": key_ring.keys["k1"], "k2": key_ring.keys["k1"]})
    relabelled = ciphertext.replace(b"k1", b"k2", 1)
    assert encryption.envelope_key_id(relabelled) == "k2"
    with pytest.raises(DecryptionFailed):
        decrypt(relabelled, ROW, twins)


def test_head_and_row_cannot_be_traded_against_each_other(key_ring):
    """The row's name continues the head; the length in the head keeps them apart."""
    longer = KeyRing("k1t", {"k1t": key_ring.keys["k1"], "k1": key_ring.keys["k1"]})
    sealed = encryption.encrypt(PLAIN, "oken", longer)
    forged = bytes((1, 2)) + b"k1" + sealed[5:]
    with pytest.raises(DecryptionFailed):
        decrypt(forged, "token", longer)


def test_without_its_key_it_stays_shut_and_says_which_key_is_missing(ciphertext):
    with pytest.raises(DecryptionFailed, match="'k1'"):
        decrypt(ciphertext, ROW, KeyRing.parse(f"k2:{TWO}"))
    with pytest.raises(DecryptionFailed):
        decrypt(ciphertext, ROW, KeyRing.parse(f"k1:{TWO}"))


def test_a_new_key_seals_and_the_old_one_still_opens(ciphertext):
    rotated = KeyRing.parse(f"k2:{TWO}, k1:{ONE}")
    assert decrypt(ciphertext, ROW, rotated) == PLAIN
    resealed = encryption.encrypt(decrypt(ciphertext, ROW, rotated), ROW, rotated)
    assert (encryption.envelope_key_id(ciphertext), encryption.envelope_key_id(resealed)) == (
        "k1",
        "k2",
    )
    assert decrypt(resealed, ROW, KeyRing.parse(f"k2:{TWO}")) == PLAIN


def test_nothing_is_sealed_for_a_row_without_a_name(key_ring):
    with pytest.raises(EncryptionError):
        encryption.encrypt(PLAIN, "", key_ring)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no encryption key"),
        (" , ", "no encryption key"),
        (ONE, "id:base64"),
        (f"k1:{ONE},k1:{TWO}", "twice"),
        ("k1:not base64!", "not base64"),
        ("k1:" + base64.b64encode(b"short").decode(), "5 bytes instead of 32"),
        ("k1:" + base64.b64encode(b"change-me" * 4).decode(), "36 bytes"),
        ("k1:" + base64.b64encode(bytes(32)).decode(), "placeholder"),
        (f"k 1:{ONE}", "letters, digits"),
        (f":{ONE}", "letters, digits"),
    ],
    # The keys are random, and names of tests have to be the same in each process.
    ids=("empty", "comma", "no id", "twice", "no base64", "short", "long", "zeros", "gap", "bare"),
)
def test_a_bad_key_ring_is_refused_in_a_sentence_without_the_key(text, sentence):
    with pytest.raises(EncryptionError, match=sentence) as caught:
        KeyRing.parse(text)
    assert ONE not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_key_in_the_url_alphabet_is_the_same_key():
    url_safe = ONE.replace("+", "-").replace("/", "_")
    assert KeyRing.parse(f"k1:{url_safe}").keys == KeyRing.parse(f"k1:{ONE}").keys


def test_a_ring_shows_its_ids_and_not_its_keys(key_ring):
    assert "k1" in repr(key_ring)
    assert repr(key_ring.keys["k1"]) not in repr(key_ring)
    assert ONE not in repr(key_ring)


def test_a_ring_needs_its_current_key(key_ring):
    with pytest.raises(EncryptionError):
        KeyRing("k9", key_ring.keys)


def test_the_ring_comes_from_the_settings(settings):
    settings.ENCRYPTION_KEYS = f"k7:{TWO},k1:{ONE}"
    assert encryption.load_key_ring().current_key_id == "k7"
    settings.ENCRYPTION_KEYS = f"k8:{TWO}"
    assert encryption.load_key_ring().current_key_id == "k8"
