"""The mix: voice on top, music ducked below it, no click, no clipping, no dead air."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proxyapi.sandbox.media.effects import effects
from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.music import SAMPLE_RATE, compose
from proxyapi.sandbox.media.storyline import Storyline

Samples = NDArray[np.float32]

_LEVELS = {"off": 0.0, "low": 0.16, "medium": 0.28, "high": 0.46}
_DUCKED = 0.42  # what is left of the music while somebody speaks
_VOICE_PEAK, _PEAK = 0.8, 0.86  # AAC may overshoot what it is given by about a tenth


def mix(film: Film, story: Storyline) -> Samples:
    """Stereo samples of shape (2, n) at 44.1 kHz, exactly as long as the story."""
    count = round(story.seconds * SAMPLE_RATE)
    voice = _voice_track(story, count)
    sound = np.stack([voice, voice])
    level = _LEVELS.get(film.volume, _LEVELS["low"])
    if level:
        music = compose(film.genre, film.seed, story.seconds)[:, :count]
        sound += music * _ducking(voice) * _swell(count) * level
    sound += effects(film, story, count)
    loudest = float(np.abs(sound).max(initial=0.0))
    if loudest > _PEAK:
        sound *= _PEAK / loudest
    return sound


def _voice_track(story: Storyline, count: int) -> Samples:
    track = np.zeros(count, np.float32)
    for at, said in story.speech:
        start = round(at * SAMPLE_RATE)
        sound = _gently(_twice_as_fast(said))[: max(0, count - start)]
        track[start : start + len(sound)] += sound
    loudest = float(np.abs(track).max(initial=0.0))
    return _warmed(track / loudest) * _VOICE_PEAK if loudest else track


def _twice_as_fast(samples: Samples) -> Samples:
    """22.05 kHz to 44.1 kHz through a half-band filter."""
    taps = np.arange(-31, 32, dtype=np.float32)
    kernel = (np.sinc(taps / 2) * np.hamming(63)).astype(np.float32)
    stuffed = np.zeros(len(samples) * 2, np.float32)
    stuffed[::2] = samples
    return np.convolve(stuffed, kernel, mode="same").astype(np.float32)


def _gently(samples: Samples) -> Samples:
    edge = min(len(samples) // 2, SAMPLE_RATE // 125)
    if edge:
        ramp = np.linspace(0, 1, edge, dtype=np.float32)
        samples[:edge] *= ramp
        samples[-edge:] *= ramp[::-1]
    return samples


def _warmed(samples: Samples) -> Samples:
    """A little saturation evens the syllables out; three early echoes give a room."""
    warm = np.tanh(samples * 1.7) / np.float32(np.tanh(1.7))
    for delay, gain in ((0.011, 0.10), (0.019, 0.07), (0.029, 0.05)):
        shift = round(delay * SAMPLE_RATE)
        warm[shift:] += warm[:-shift] * np.float32(gain)
    result: Samples = (warm / max(1.0, float(np.abs(warm).max()))).astype(np.float32)
    return result


def _ducking(voice: Samples) -> Samples:
    """A gain per sample: down quickly with the voice, up again slowly."""
    block = SAMPLE_RATE // 50
    padded = np.pad(np.abs(voice), (0, -len(voice) % block))
    spoken = padded.reshape(-1, block).max(axis=1) > 0.04
    gain, gains = 1.0, []
    for busy in spoken:
        gain += (_DUCKED - gain) * 0.35 if busy else (1.0 - gain) * 0.06
        gains.append(gain)
    at = np.arange(len(voice), dtype=np.float32) / block
    return np.interp(at, np.arange(len(gains)), gains).astype(np.float32)


def _swell(count: int) -> Samples:
    """Music enters within 0.15 s and leaves over the last 0.6 s, never down to nothing."""
    swell = np.ones(count, np.float32)
    start, end = min(count, SAMPLE_RATE * 15 // 100), min(count, SAMPLE_RATE * 6 // 10)
    swell[:start] = np.linspace(0.25, 1, start)
    swell[count - end :] *= np.linspace(1, 0.3, end)
    fade = min(count // 2, SAMPLE_RATE // 100)
    swell[:fade] *= np.linspace(0, 1, fade)
    swell[count - fade :] *= np.linspace(1, 0, fade)
    return swell
