"""What a log line may hold: no token, no key of a link, no second line that somebody typed."""

from __future__ import annotations

import json
import logging

import pytest

from dashboard.monitoring.log_format import build_formatter, redact_text

TOKEN = "sbx_harmless0000000000000000"


@pytest.mark.parametrize(
    "text",
    [
        f"sent with Authorization: Bearer {TOKEN}",
        f"the token {TOKEN} was refused",
        "GET /join/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/ 302",
        "signed with whsec_harmless00000000",
    ],
)
def test_secrets_are_struck_out_of_a_line(text: str) -> None:
    line = redact_text(text)
    assert "[redacted]" in line
    assert "harmless" not in line
    assert "aaaaaaaa" not in line


def test_a_line_as_json_stays_one_line_with_level_and_event() -> None:
    typed = f"Whales\n{{}} INFO forged {TOKEN}"
    record = logging.LogRecord("reelroom", logging.WARNING, "", 0, typed, (), None)
    line = build_formatter("json").format(record)
    assert len(line.splitlines()) == 1
    assert "[redacted]" in line
    assert json.loads(line)["level"] == "warning"
