"""Why a code of an authenticator app was refused: used, passed, or of a clock that is off."""

from __future__ import annotations

import time

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa import app_settings
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value

MAX_STEPS_OFF = 20  # ten minutes
WRONG_CODE = "This code is wrong. Enter the one that your app shows now."
CODE_USED = "This code was used already. Enter the next one."
CODE_PASSED = "This code has passed. Enter the next one."
CLOCK_OFF = (
    "The clock of the device with your app is about {minutes} {noun} {direction}. Set it to "
    "automatic, then enter a new code."
)


def explain_wrong_code(secret: str, code: str) -> str:
    """Return the sentence for a code that was not accepted."""
    steps = find_steps_off(secret, code)
    if steps is None:
        return WRONG_CODE
    if abs(steps) <= app_settings.TOTP_TOLERANCE:
        return CODE_USED
    if steps == -app_settings.TOTP_TOLERANCE - 1:
        return CODE_PASSED  # typed slowly
    minutes = max(1, round(abs(steps) * app_settings.TOTP_PERIOD / 60))
    return CLOCK_OFF.format(
        minutes=minutes,
        noun="minute" if minutes == 1 else "minutes",
        direction="slow" if steps < 0 else "fast",
    )


def find_steps_off(secret: str, code: str) -> int | None:
    """Return by how many steps of 30 s the clock that made the code differs from ours; None if it
    is none of these codes."""
    now = int(time.time()) // app_settings.TOTP_PERIOD
    for steps in range(-MAX_STEPS_OFF, MAX_STEPS_OFF + 1):
        value = format_hotp_value(hotp_value(secret, now + steps))
        if compare_user_code(actual=code, expected=value):
            return steps
    return None
