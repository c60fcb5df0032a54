"""Frames and samples in, an MP4 out: H.264 yuv420p, AAC, index at the front."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream
from numpy.typing import NDArray
from PIL.Image import Image

from proxyapi.sandbox.media.music import SAMPLE_RATE

Planes = tuple[Image, Image, Image]

FRAME_RATE = 24
# Drawn pictures compress well; the deblocking that "ultrafast" leaves out keeps skies smooth.
_X264: dict[str, object] = {
    "preset": "ultrafast",
    "tune": "animation",
    "x264-params": "deblock=1,1",
    "crf": "24",
    "threads": "2",
    "g": "48",
}
_AAC_FRAME = 1024
_AUDIO_AHEAD = 0.5  # seconds; keeps both streams close together in the file


def write(
    path: Path, size: tuple[int, int], frames: Iterable[Planes], sound: NDArray[np.float32] | None
) -> float:
    """Write the file and return its length in seconds; frames are Y, U and V planes.

    Without sound there is no audio stream.
    """
    count, heard = 0, 0
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as file:
        picture = _picture_stream(file, size)
        voice = _sound_stream(file) if sound is not None else None
        for planes in frames:
            file.mux(picture.encode(frame(planes, size, count)))
            count += 1
            if voice is not None and sound is not None:
                until = round((count / FRAME_RATE + _AUDIO_AHEAD) * SAMPLE_RATE)
                heard = _hear(file, voice, sound, heard, until)
        file.mux(picture.encode(None))
        if voice is not None and sound is not None:
            _hear(file, voice, sound, heard, sound.shape[1] + _AAC_FRAME)
            file.mux(voice.encode(None))
    return count / FRAME_RATE


def _picture_stream(file: OutputContainer, size: tuple[int, int]) -> VideoStream:
    stream = file.add_stream("libx264", rate=FRAME_RATE)
    stream.width, stream.height = size
    stream.pix_fmt = "yuv420p"
    context = stream.codec_context
    context.color_range = ColorRange.MPEG
    context.colorspace, context.color_primaries, context.color_trc = 1, 1, 1  # BT.709
    stream.time_base = Fraction(1, FRAME_RATE)
    stream.options = _X264
    return stream


def _sound_stream(file: OutputContainer) -> AudioStream:
    stream = file.add_stream("aac", rate=SAMPLE_RATE, layout="stereo")
    stream.bit_rate = 128_000
    return stream


def frame(planes: Planes, size: tuple[int, int], number: int) -> av.VideoFrame:
    """The planes of frame `number`, as the encoder takes them."""
    frame = av.VideoFrame(size[0], size[1], "yuv420p")
    frame.colorspace, frame.color_range = Colorspace.ITU709, ColorRange.MPEG
    for target, source in zip(frame.planes, planes, strict=True):
        width, height = source.size
        data = source.tobytes()
        if target.line_size != width:
            rows = np.frombuffer(data, np.uint8).reshape(height, width)
            data = np.pad(rows, ((0, 0), (0, target.line_size - width))).tobytes()
        target.update(data)
    frame.pts = number
    return frame


def _hear(
    file: OutputContainer,
    stream: AudioStream,
    sound: NDArray[np.float32],
    start: int,
    until: int,
) -> int:
    while start < min(until, sound.shape[1]):
        block = np.ascontiguousarray(sound[:, start : start + _AAC_FRAME])
        frame = av.AudioFrame.from_ndarray(block, format="fltp", layout="stereo")
        frame.sample_rate, frame.pts = SAMPLE_RATE, start
        file.mux(stream.encode(frame))
        start += block.shape[1]
    return start
