"""Recordings are known by their content, measured where the file says how long they are, and leave
without the place where they were taken."""

from __future__ import annotations

import io
import struct
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dashboard.shared.uploads import recordings
from dashboard.shared.uploads.recordings import Recording, RecordingRefused, read_recording
from tests.recordings import make_wav

av = pytest.importorskip("av")
PLACE = b"59.9139N 10.7522E"
# Container, codec, content type, and whether the file says how long it is.
FORMATS = {
    "mp3": ("mp3", "audio/mpeg"),
    "m4a": ("aac", "audio/mp4"),
    "ogg": ("libopus", "audio/ogg"),
    "flac": ("flac", "audio/flac"),
    "webm": ("libopus", "audio/webm"),
}
CONTAINERS = {"m4a": "mp4"}


def encode(format_: str, codec: str, seconds: float = 6, *, film: bool = False) -> bytes:
    """A file of silence, or with a black picture."""
    file = io.BytesIO()
    with av.open(file, "w", format=CONTAINERS.get(format_, format_)) as container:
        sound = container.add_stream(codec, rate=48_000)
        sound.layout = "mono"
        video = container.add_stream("libvpx" if format_ == "webm" else "mpeg4") if film else None
        if video is not None:
            video.width, video.height, video.pix_fmt = 64, 64, "yuv420p"
            video.time_base = Fraction(1, 25)
            frame = av.VideoFrame(64, 64, "yuv420p")
            frame.pts = 0
            container.mux(video.encode(frame))
        mux_silence(container, sound, seconds)
        for stream in filter(None, (sound, video)):
            container.mux(stream.encode(None))
    return file.getvalue()


def mux_silence(container: Any, sound: Any, seconds: float) -> None:
    frame = av.AudioFrame(format="s16", layout="mono", samples=960)
    frame.rate = 48_000
    frame.planes[0].update(bytes(1920))
    resampler = av.AudioResampler(format=sound.format.name, layout="mono", rate=48_000)
    fifo = av.AudioFifo()
    for number in range(int(seconds * 50)):
        frame.pts = number * 960
        for ready in resampler.resample(frame):
            fifo.write(ready)
    size = sound.codec_context.frame_size or 960
    while (chunk := fifo.read(size, partial=True)) is not None:
        container.mux(sound.encode(chunk))


@pytest.mark.parametrize("format_", FORMATS)
def test_a_recording_is_known_and_measured(format_: str) -> None:
    codec, content_type = FORMATS[format_]
    recording = read_recording(encode(format_, codec))
    assert recording.content_type == content_type
    assert recording.seconds is None or abs(recording.seconds - 6) < 0.2
    assert recording.seconds is not None or format_ == "webm"


def test_a_wav_is_measured_by_what_it_has() -> None:
    wav = make_wav(7)
    assert read_recording(wav) == Recording(wav, "audio/wav", 7.0)
    stopped = wav[:40] + struct.pack("<I", 0xFFFFFFFF) + wav[44:]
    assert read_recording(stopped).seconds == 7.0


def test_an_mp3_with_tags_before_it_is_measured() -> None:
    tagged = encode("mp3", "mp3")
    assert tagged[:3] == b"ID3"
    plain = tagged[10 + tagged[9] :]
    assert plain[0] == 0xFF
    assert read_recording(plain).seconds == read_recording(tagged).seconds


@pytest.mark.parametrize("format_", ["m4a", "webm"])
def test_a_film_is_no_recording(format_: str) -> None:
    with pytest.raises(RecordingRefused, match="is a film"):
        read_recording(encode(format_, FORMATS[format_][0], film=True))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", recordings.RECORDING_EMPTY),
        (b"RIFF\0\0\0\0WEBPVP8 ", recordings.NOT_SOUND),
        (b"\xff\xd8\xff\xe0 a picture called voice.mp3", recordings.NOT_SOUND),
        (b"\xff\xfb\x90\x00" + bytes(500), recordings.NOT_SOUND),
        (make_wav(4), recordings.TOO_SHORT),
        (make_wav(182), recordings.TOO_LONG),
        (make_wav(6)[:30], recordings.RECORDING_DAMAGED),
        (b"fLaC", recordings.RECORDING_DAMAGED),
        (b"OggS" + bytes(40), recordings.NOT_SOUND),
        (b"\x1a\x45\xdf\xa3" + bytes(40), recordings.NOT_SOUND),
        (b"\0\0\0\x10ftypM4A \0\0\0\0", recordings.NOT_SOUND),
        (b"\0\0\0\x10ftypM4A \0\0\0\0\0\0\xff\xffmoov", recordings.RECORDING_DAMAGED),
    ],
)
def test_what_cannot_be_used_is_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(RecordingRefused) as refused:
        read_recording(content)
    assert str(refused.value) == sentence


def test_a_file_that_is_too_large_is_refused() -> None:
    with pytest.raises(RecordingRefused, match="larger than 25 MB"):
        read_recording(bytes(recordings.MAX_RECORDING_BYTES + 1))


def test_an_m4a_loses_the_place_where_it_was_recorded() -> None:
    content = encode("m4a", "aac")
    place = struct.pack(">I4s", 8 + len(PLACE), b"uuid") + PLACE
    cleaned = read_recording(content + place).content
    assert PLACE not in cleaned
    assert len(cleaned) == len(content + place)


@given(some.sampled_from(list(FORMATS)), some.data())
def test_a_damaged_recording_is_refused_or_read_but_never_breaks(
    format_: str, data: some.DataObject
) -> None:
    content = bytearray(SMALL[format_])
    for _ in range(data.draw(some.integers(1, 8))):
        content[data.draw(some.integers(0, len(content) - 1))] = data.draw(some.integers(0, 255))
    try:
        read_recording(bytes(content[: data.draw(some.integers(0, len(content)))]))
    except RecordingRefused as refused:
        assert str(refused).endswith(".")


SMALL = {name: encode(name, codec, 5.5) for name, (codec, _) in FORMATS.items()}


def with_notes(format_: str) -> bytes:
    """A recording with a place before and behind its sound, as its format keeps notes."""
    if format_ == "wav":
        note = struct.pack("<4sI", b"LIST", len(PLACE) + 1) + PLACE + b"\0"
        sound = make_wav(6)
        return sound[:12] + note + sound[12:] + note
    content = encode(format_, FORMATS[format_][0])
    if format_ == "mp3":
        tag = b"ID3\4\0\0\0\0\0" + bytes([len(PLACE)]) + PLACE
        return tag + content[10 + content[9] :] + b"TAG" + PLACE.ljust(125, b"\0")
    note = struct.pack(">I", 4 << 24 | len(PLACE)) + PLACE
    end = 8 + int.from_bytes(content[5:8])
    return content[:end] + note + content[end:]


@pytest.mark.parametrize("format_", ["wav", "mp3", "flac"])
def test_a_recording_loses_its_notes_and_plays_on(format_: str) -> None:
    before = with_notes(format_)
    after = read_recording(before)
    assert PLACE in before
    assert PLACE not in after.content
    assert read_recording(after.content) == after
    with av.open(io.BytesIO(after.content)) as played:
        samples = sum(frame.samples / frame.sample_rate for frame in played.decode(audio=0))
    assert samples == pytest.approx(6, abs=0.2)
