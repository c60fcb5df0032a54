"""The words of a prompt are counted as the service counts them: in each script, and pasted."""

from __future__ import annotations

import pytest

from dashboard.clips.readiness import find_prompt_problem
from proxyapi import calls
from proxyapi.kinds import CREATE_CLIP_OPERATION, clip_body
from proxyapi.models.duration_class import count_words
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import errors
from tests.proxyapi.money.sandbox_account import SandboxAccount

PASTED = "“Scene 1”\r\n\tA boat…\u00a0crosses\r\n\r\n• the square — at dawn"
PROMPTS = {
    "four words": ("only four words here", 4),
    "five words": ("now there are five words", 5),
    "1500 words": ("boat " * 1500, 1500),
    "1501 words": ("boat " * 1501, 1501),
    "Japanese": ("夜明けに紙の船が、水没した広場をゆっくりと渡る。", 11),
    "short Japanese": ("夜明けの船", 3),
    "Chinese": ("一艘纸船在黎明穿过被淹没的城市广场", 9),
    "Thai": ("เรือกระดาษลอยข้ามจัตุรัสกลางเมืองยามรุ่งสาง", 9),
    "Arabic": ("قارب ورقي يعبر ساحة مدينة غمرتها المياه عند الفجر", 9),
    "short Arabic": ("قارب ورقي عند الفجر", 4),
    "Korean": ("종이배가 물에 잠긴 도시 광장을 건넌다", 6),
    "Hindi": ("भोर में काग़ज़ की नाव चौक पार करती है", 9),
    "mixed": ("Kamera: 夜明けに紙の船が slowly drifts", 7),
    "pasted": (PASTED, 9),
    "signs alone": ("— • … – *", 0),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_words_are_counted_in_each_script(name: str) -> None:
    text, words = PROMPTS[name]
    assert count_words(text) == words


@pytest.mark.django_db
def test_what_the_composer_lets_through_the_service_takes_and_nothing_else(
    paying: SandboxAccount,
) -> None:
    for name, (text, words) in PROMPTS.items():
        body = clip_body({"model": "brook-lite", "prompt": text})
        try:
            calls.call_upstream(paying.token, CREATE_CLIP_OPERATION, Priority.PERSON, json=body)
        except errors.ValidationFailed as refused:
            assert set(refused.field_messages) == {"prompt"}, name
            is_taken = False
        else:
            is_taken = True
        assert is_taken == (not find_prompt_problem(text)) == (5 <= words <= 1500), name
