"""Uploaded files are known by their content, and leave without what a camera stored beside the
picture."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dashboard.shared.uploads import media_files
from dashboard.shared.uploads.media_files import MediaFileRefused, read_media_file
from dashboard.shared.uploads.pictures import exif_orientation

Image = pytest.importorskip("PIL.Image")
KINDS = ["PNG", "JPEG", "WEBP", "GIF", "mp4"]
PLACE = b"59.9139N 10.7522E"


def picture(kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    image = Image.new("RGB", (8, 4), "red")
    image.putpixel((7, 3), (0, 0, 255))
    image.save(file, kind, **options)
    return file.getvalue()


def exif(orientation: int = 6) -> bytes:
    data = Image.Exif()
    data[0x0112] = orientation
    data[0x010E] = PLACE.decode()
    gps = data.get_ifd(0x8825)
    gps[1], gps[29] = "N", "2026:11:24"
    data[0x8825] = gps
    return bytes(data.tobytes())


def box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(content), name) + content


MP4 = (
    box(b"ftyp", b"isom\0\0\2\0")
    + box(b"moov", box(b"mvhd", b"\0" * 8) + box(b"udta", box(b"\xa9xyz", PLACE)))
    + box(b"mdat", b"film")
)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_the_place_is_removed_and_the_picture_stays(kind: str) -> None:
    before = picture(kind, exif=exif())
    assert PLACE in before
    after = read_media_file(before).content
    assert PLACE not in after
    one, other = (Image.open(io.BytesIO(data)) for data in (before, after))
    assert one.tobytes() == other.tobytes()
    assert not other.getexif().get_ifd(0x8825)


def test_a_jpeg_keeps_its_rotation() -> None:
    after = read_media_file(picture("JPEG", exif=exif(6))).content
    assert dict(Image.open(io.BytesIO(after)).getexif()) == {0x0112: 6}
    assert not dict(Image.open(io.BytesIO(read_media_file(picture("JPEG")).content)).getexif())


def test_text_of_a_png_and_comments_of_a_jpeg_are_removed() -> None:
    text = zlib.crc32(b"tEXt" + PLACE)
    chunk = struct.pack(">I", len(PLACE)) + b"tEXt" + PLACE + struct.pack(">I", text)
    png = picture("PNG")
    with_text = png[:33] + chunk + png[33:]
    assert Image.open(io.BytesIO(with_text)).size == (8, 4)
    assert read_media_file(with_text).content == png
    assert PLACE not in read_media_file(picture("JPEG", comment=PLACE)).content


def test_a_progressive_jpeg_loses_metadata_between_its_scans() -> None:
    before = picture("JPEG", progressive=True)
    assert before.count(b"\xff\xda") > 2
    added = b"".join(
        b"\xff" + bytes([marker]) + struct.pack(">H", len(PLACE) + 2) + PLACE
        for marker in (0xE1, 0xED, 0xFE)
    )
    second = before.index(b"\xff\xda", before.index(b"\xff\xda") + 2)
    tables = before.rindex(b"\xff\xc4", 0, second)
    for at in (tables, second):
        assert read_media_file(before[:at] + added + before[at:]).content == before


def test_a_jpeg_loses_the_pictures_behind_the_first() -> None:
    """A camera adds a preview with its own Exif data, and an index that points at it."""
    one = picture("JPEG")
    index = b"\xff\xe2" + struct.pack(">H", 10) + b"MPF\0MM\0*"
    for more in (picture("JPEG", exif=exif()), PLACE + b"\xff\xd9"):
        assert read_media_file(one[:20] + index + one[20:] + more).content == one


def test_restarts_and_fill_bytes_of_a_jpeg_stay() -> None:
    image = Image.effect_noise((64, 64), 90)
    file = io.BytesIO()
    image.save(file, "JPEG", restart_marker_blocks=1)
    before = file.getvalue()
    assert b"\xff\xd3" in before and b"\xff\0" in before
    assert read_media_file(before).content == before
    filled = before[:-2] + b"\xff" + before[-2:]
    assert read_media_file(filled + PLACE).content == filled


def test_a_gif_loses_comments_and_what_applications_added() -> None:
    file = io.BytesIO()
    frames = [Image.new("RGB", (8, 4), colour) for colour in ("red", "blue")]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], loop=3)
    before = file.getvalue()
    repeats = before.index(b"!\xff\x0bNETSCAPE2.0")
    comment = b"!\xfe" + bytes([len(PLACE)]) + PLACE + b"\0"
    # XMP is not cut into blocks: a reader that skips blocks ends up in this tail.
    tail = b"\x01" + bytes(range(255, -1, -1)) + b"\0"
    xmp = b"!\xff\x0bXMP DataXMP<x:xmpmeta>" + PLACE + b"</x:xmpmeta>" + tail
    with_place = before[:repeats] + comment + xmp + before[repeats:-1] + comment + b";" + PLACE
    assert Image.open(io.BytesIO(with_place)).n_frames == 2
    after = read_media_file(with_place).content
    assert after == before
    assert Image.open(io.BytesIO(after)).info["loop"] == 3


def test_a_film_loses_its_place_and_keeps_its_length() -> None:
    """Its index points at positions in the file, so nothing may move."""
    after = read_media_file(MP4).content
    assert PLACE not in after
    assert len(after) == len(MP4)
    assert after.index(b"mdat") == MP4.index(b"mdat")


@pytest.mark.parametrize(
    ("content", "type_"),
    [
        (picture("PNG"), "image/png"),
        (picture("JPEG"), "image/jpeg"),
        (picture("WEBP"), "image/webp"),
        (picture("GIF"), "image/gif"),
        (MP4, "video/mp4"),
        (MP4.replace(b"isom", b"M4V "), "video/mp4"),
        (MP4.replace(b"isom", b"3gp5"), "video/mp4"),
    ],
)
def test_the_type_is_that_of_the_content(content: bytes, type_: str) -> None:
    assert read_media_file(content).content_type == type_


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", media_files.EMPTY_FILE),
        (b"MZ\x90\0" + b"\0" * 500, media_files.NOT_MEDIA),
        (b"#!/bin/sh\nrm -rf /", media_files.NOT_MEDIA),
        (b"%PDF-1.7", media_files.NOT_MEDIA),
        (b"<html><img src=x>", media_files.NOT_MEDIA),
        (b'<?xml version="1.0"?><SVG onload="alert(1)"/>', media_files.SVG_REFUSED),
        (b"RIFF\x10\0\0\0WAVEfmt ", media_files.NOT_MEDIA),
        (MP4.replace(b"isom", b"M4A "), media_files.NOT_MEDIA),
        (MP4.replace(b"isom", b"qt  "), media_files.NOT_MEDIA),
        (MP4.replace(b"isom", b"heic"), media_files.HEIC_REFUSED),
        (MP4.replace(b"isom", b"mif1"), media_files.HEIC_REFUSED),
        (MP4.replace(b"isom", b"avif"), media_files.HEIC_REFUSED),
        (picture("PNG")[:-20], media_files.DAMAGED),
        (picture("JPEG")[:100], media_files.DAMAGED),
        (picture("JPEG")[:-2], media_files.DAMAGED),
        (picture("WEBP")[:30], media_files.DAMAGED),
        (picture("GIF")[:-4], media_files.DAMAGED),
        (picture("GIF")[:20], media_files.DAMAGED),
        (MP4[:-3], media_files.DAMAGED),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * media_files.MAX_MEDIA_FILE_BYTES, media_files.TOO_LARGE),
    ],
)
def test_anything_else_is_refused_with_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(MediaFileRefused) as refused:
        read_media_file(content)
    assert str(refused.value) == sentence


@given(content=some.binary(max_size=200), kind=some.sampled_from(KINDS))
def test_no_damaged_file_raises_anything_else(content: bytes, kind: str) -> None:
    whole = MP4 if kind == "mp4" else picture(kind)
    for damaged in (whole[:12] + content, whole[: len(whole) // 2] + content):
        try:
            read_media_file(damaged)
        except MediaFileRefused:
            continue


@given(data=some.binary(max_size=60))
def test_no_exif_data_raises(data: bytes) -> None:
    for order in (b"II*\0", b"MM\0*", b""):
        assert 0 <= exif_orientation(order + data) <= 8


def test_only_listed_boxes_of_a_film_stay() -> None:
    head, place = bytes(12), b"\0" + PLACE
    film = box(b"trak", box(b"mdia", box(b"hdlr", head[:8] + b"vide" + head + place)))
    places = box(b"trak", box(b"mdia", box(b"hdlr", head[:8] + b"meta" + head) + box(b"x", PLACE)))
    unknown = box(b"free", PLACE) + box(b"Xtra", PLACE) + box(b"skip", PLACE)
    before = box(b"ftyp", b"isom\0\0\2\0") + unknown + box(b"moov", film + places + unknown)
    after = read_media_file(before + box(b"mdat", b"film")).content
    assert PLACE not in after
    assert (after.count(b"trak"), b"vide" in after, b"meta" in after) == (1, True, False)
    assert len(after) == len(before) + 12
