"""Real WAV files for tests: a tone, as long as wanted."""

from __future__ import annotations

import io
import math
import struct
import wave

RATE_HZ = 8000


def make_wav(seconds: float = 31.0, pitch_hz: float = 220.0, amplitude: float = 0.4) -> bytes:
    frames = (
        int(32767 * amplitude * math.sin(2 * math.pi * pitch_hz * at / RATE_HZ))
        for at in range(int(seconds * RATE_HZ))
    )
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE_HZ)
        sound.writeframes(b"".join(struct.pack("<h", frame) for frame in frames))
    return file.getvalue()
