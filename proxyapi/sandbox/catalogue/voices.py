"""Narration voices: who speaks, in which language, with which gender."""

from __future__ import annotations

from typing import NamedTuple


class Voice(NamedTuple):
    id: int
    name: str
    language: str
    gender: str

    @property
    def code(self) -> str:
        """The language as the narrator and the writer know it: `en`, `es`, …"""
        return LANGUAGES[self.language]


LANGUAGES = {
    "English": "en",
    "Spanish": "es",
    "French": "fr",
    "German": "de",
    "Portuguese": "pt",
}

VOICES = (
    Voice(2114, "Amelia Hart", "English", "female"),
    Voice(2117, "Marcus Reed", "English", "male"),
    Voice(2121, "Nora Whitfield", "English", "female"),
    Voice(2126, "Callum Fraser", "English", "male"),
    Voice(2130, "Ruth Adeyemi", "English", "female"),
    Voice(2138, "Theo Lindqvist", "English", "male"),
    Voice(2203, "Lucía Navarro", "Spanish", "female"),
    Voice(2208, "Mateo Ortega", "Spanish", "male"),
    Voice(2211, "Inés Cabrera", "Spanish", "female"),
    Voice(2304, "Camille Laurent", "French", "female"),
    Voice(2309, "Julien Moreau", "French", "male"),
    Voice(2315, "Odile Garnier", "French", "female"),
    Voice(2402, "Hannah Vogel", "German", "female"),
    Voice(2407, "Jakob Brandt", "German", "male"),
    Voice(2413, "Greta Sommer", "German", "female"),
    Voice(2501, "Beatriz Almeida", "Portuguese", "female"),
    Voice(2506, "Tiago Carvalho", "Portuguese", "male"),
)

BY_ID = {voice.id: voice for voice in VOICES}
