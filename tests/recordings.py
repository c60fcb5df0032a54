"""Real WAV files for tests: a tone, as long as wanted."""

from __future__ import annotations

import io
import math
import wave
from array import array

RATE_HZ = 8000


def make_wav(seconds: float = 31.0, pitch_hz: float = 220.0, amplitude: float = 0.4) -> bytes:
    """One second of it, repeated: with a whole number of periods."""
    peak, step = 32767 * amplitude, 2 * math.pi * pitch_hz / RATE_HZ
    one_second = array("h", (int(peak * math.sin(step * at)) for at in range(RATE_HZ)))
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE_HZ)
        sound.writeframes((one_second * math.ceil(seconds))[: int(seconds * RATE_HZ)])
    return file.getvalue()
