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
def ring():
    return KeyRing.parse(f"k1:{ONE}")


@pytest.fixture
def blob(ring):
    return encryption.encrypt(PLAIN, ROW, ring)


def test_a_sealed_value_opens_for_its_row(ring, blob):
    assert PLAIN not in blob
    assert decrypt(blob, ROW, ring) == PLAIN


def test_an_empty_value_and_a_row_with_an_umlaut_are_fine(ring):
    assert decrypt(encryption.encrypt(b"", "zeile:ü", ring), "zeile:ü", ring) == b""


def test_the_same_value_never_looks_the_same_twice(ring, blob):
    assert encryption.encrypt(PLAIN, ROW, ring) != blob


def test_a_value_moved_to_another_row_stays_shut(ring, blob):
    with pytest.raises(DecryptionFailed):
        decrypt(blob, "token:5f0d", ring)


def test_any_flipped_bit_keeps_it_shut(ring, blob):
    for place in range(len(blob)):
        for bit in range(8):
            flipped = bytearray(blob)
            flipped[place] ^= 1 << bit
            with pytest.raises(DecryptionFailed):
                decrypt(bytes(flipped), ROW, ring)


def test_any_cut_and_any_addition_keeps_it_shut(ring, blob):
    for length in range(len(blob)):
        with pytest.raises(DecryptionFailed):
            decrypt(blob[:length], ROW, ring)
    with pytest.raises(DecryptionFailed):
        decrypt(blob + b"\0", ROW, ring)


def test_a_value_relabelled_to_another_key_stays_shut(ring, blob):
    twins = KeyRing("k1", {"k1": ring.keys["k1"], "k2": ring.keys["k1"]})
    relabelled = blob.replace(b"k1", b"k2", 1)
    assert encryption.envelope_key_id(relabelled) == "k2"
    with pytest.raises(DecryptionFailed):
        decrypt(relabelled, ROW, twins)


def test_head_and_row_cannot_be_traded_against_each_other(ring):
    """The row's name continues the head; the length in the head keeps them apart."""
    longer = KeyRing("k1t", {"k1t": ring.keys["k1"], "k1": ring.keys["k1"]})
    sealed = encryption.encrypt(PLAIN, "oken", longer)
    forged = bytes((1, 2)) + b"k1" + sealed[5:]
    with pytest.raises(DecryptionFailed):
        decrypt(forged, "token", longer)


def test_without_its_key_it_stays_shut_and_says_which_key_is_missing(blob):
    with pytest.raises(DecryptionFailed, match="'k1'"):
        decrypt(blob, ROW, KeyRing.parse(f"k2:{TWO}"))
    with pytest.raises(DecryptionFailed):
        decrypt(blob, ROW, KeyRing.parse(f"k1:{TWO}"))


def test_a_new_key_seals_and_the_old_one_still_opens(blob):
    rotated = KeyRing.parse(f"k2:{TWO}, k1:{ONE}")
    assert decrypt(blob, ROW, rotated) == PLAIN
    resealed = encryption.encrypt(decrypt(blob, ROW, rotated), ROW, rotated)
    assert (encryption.envelope_key_id(blob), encryption.envelope_key_id(resealed)) == ("k1", "k2")
    assert decrypt(resealed, ROW, KeyRing.parse(f"k2:{TWO}")) == PLAIN


def test_nothing_is_sealed_for_a_row_without_a_name(ring):
    with pytest.raises(EncryptionError):
        encryption.encrypt(PLAIN, "", ring)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no sealing key"),
        (" , ", "no sealing key"),
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


def test_a_ring_shows_its_ids_and_not_its_keys(ring):
    assert "k1" in repr(ring)
    assert repr(ring.keys["k1"]) not in repr(ring)
    assert ONE not in repr(ring)


def test_a_ring_needs_its_current_key(ring):
    with pytest.raises(EncryptionError):
        KeyRing("k9", ring.keys)


def test_the_ring_comes_from_the_settings(settings):
    settings.SEALING_KEYS = f"k7:{TWO},k1:{ONE}"
    assert encryption.load_key_ring().current_key_id == "k7"
    settings.SEALING_KEYS = f"k8:{TWO}"
    assert encryption.load_key_ring().current_key_id == "k8"
