"""A text's language, and a clone that narrates in it."""

from __future__ import annotations

import pytest

from proxyapi.sandbox.writer.language_detection import language_of
from tests.contract import staging
from tests.sandbox.conftest import READY_SETTINGS

SAID = [
    ("en", "A red fox walks home. The moon is up."),
    ("en", "Photosynthesis turns light into sugar."),
    ("en", "Salt"),
    ("en", ""),
    ("de", "Jede Nacht steigt der Leuchtturmwärter über dem Meer die Treppe hinauf."),
    ("es", "Cada noche el farero sube las escaleras sobre el mar."),
    ("fr", "Chaque nuit, le gardien du phare monte les marches."),
    ("pt", "Todas as noites o faroleiro sobe as escadas sobre o mar."),
]


@pytest.mark.parametrize(("code", "text"), SAID)
def test_the_language_of_a_text_is_detected(code, text):
    assert language_of(text) == code


@pytest.mark.parametrize(("code", "text"), [it for it in SAID if it[1]])
def test_a_clone_narrates_in_the_language_of_the_script(sandbox, code, text):
    form = {"terms": "true", "name": "Mira", "gender": "female"}
    files = [("samples[]", ("one.wav", staging.wav(), "audio/wav"))]
    made = sandbox.call("POST", "/v2/voice-clones", data=form, files=files).json()["data"]
    sandbox.advance(60)
    clone = sandbox.get(f"/v2/voice-clones/{made['id']}").json()["data"]
    number = sandbox.draft(**{**READY_SETTINGS, "voice_id": clone["voice_id"], "script": text})
    assert sandbox.post(f"/v2/faceless/{number}/render").status_code == 202
    assert sandbox.maker.films[-1]["language"] == code


def test_a_voice_of_the_catalogue_keeps_its_own_language(sandbox):
    number = sandbox.draft(**{**READY_SETTINGS, "voice_id": 2203, "script": SAID[4][1]})
    sandbox.post(f"/v2/faceless/{number}/render")
    assert sandbox.maker.films[-1]["language"] == "es"
