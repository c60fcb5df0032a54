"""Refuse passwords that are made of words anybody would try here (docs/security.md)."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from dashboard.models import User

CONTEXT_WORDS = ("reelroom", "storyboard", "password", "video")
MIN_OTHER_CHARS = 10
MADE_OF_CONTEXT_WORDS = (
    "This password is easy to guess here. Use other words than “{word}” in at least 10 characters."
)


class ContextWordValidator:
    """What is left of a password without these words must be long enough by itself."""

    def validate(self, password: str, user: User | None = None) -> None:
        rest = password.lower()
        for word in CONTEXT_WORDS:
            if word in rest and len(rest := rest.replace(word, "")) < MIN_OTHER_CHARS:
                raise ValidationError(MADE_OF_CONTEXT_WORDS.format(word=word))

    def get_help_text(self) -> str:
        return "Not made of the name of the portal."
