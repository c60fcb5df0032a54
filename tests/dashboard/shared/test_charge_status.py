"""The table of what is said of a charge: complete, and each sentence filled in."""

from __future__ import annotations

import pytest
from django.utils import timezone

from dashboard.shared.videos.charge_status import (
    CHARGE_TEXTS,
    charge_label,
    is_long_unknown,
    open_charge_texts,
    select_open_charge,
)
from proxyapi.models import Charge, ChargeState
from proxyapi.models.charge import MATCH_REMOVED_CODE
from tests.factories import ChargeFactory


def make_charge(state: str, **fields: object) -> Charge:
    charge: Charge = ChargeFactory.build(state=state, created_at=timezone.now(), **fields)
    return charge


def test_every_open_state_has_its_texts() -> None:
    assert set(CHARGE_TEXTS) == {state for state in ChargeState if make_charge(state).is_open}


@pytest.mark.parametrize("state", list(CHARGE_TEXTS))
@pytest.mark.parametrize("operation", ["faceless.render", "faceless.scripts"])
def test_no_sentence_keeps_a_placeholder(state: str, operation: str) -> None:
    texts = open_charge_texts(make_charge(state, operation=operation), timezone.now(), "")
    assert texts.detail.endswith(".")
    assert not {"{", "}"} & set("".join(texts))


def test_a_reason_with_braces_is_said_as_it_is() -> None:
    charge = make_charge(ChargeState.HELD, reason="The service said {hold}.")
    texts = open_charge_texts(charge, timezone.now(), "")
    assert texts.summary == "The service said {hold}."
    assert texts.detail.startswith("The service said {hold}. ")


def test_a_script_that_is_sent_is_written() -> None:
    assert charge_label(make_charge("sending", operation="faceless.scripts")).label == "Writing"
    assert charge_label(make_charge("sending", operation="faceless.render")).label == "Sending"


def test_the_charge_with_the_greatest_doubt_speaks_for_the_video() -> None:
    charges = [make_charge(state) for state in ("draft", "unknown", "sending", "confirmed")]
    assert select_open_charge(charges) is charges[1]
    assert select_open_charge(charges[3:]) is None


def test_a_match_that_was_taken_back_waits_for_no_deadline() -> None:
    now = timezone.now()
    assert not is_long_unknown(make_charge("unknown", sent_at=now), now)
    assert is_long_unknown(make_charge("unknown", sent_at=now, code=MATCH_REMOVED_CODE), now)
