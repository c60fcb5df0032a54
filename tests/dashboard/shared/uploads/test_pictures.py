"""Photos: their format and size by their content, without what a camera writes beside them."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest

from dashboard.shared.uploads import pictures
from dashboard.shared.uploads.media_files import MediaFileRefused, read_media_file
from dashboard.shared.uploads.pictures import PhotoRefused, read_photo

Image = pytest.importorskip("PIL.Image")
GPS, ORIENTATION, MAKER = 0x8825, 0x0112, 0x010F
SECRET = b"59.9139N 10.7522E Secret"


def picture(name: str, size: tuple[int, int] = (300, 400), **options: object) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, (120, 90, 60)).save(file, name, **options)
    return file.getvalue()


def camera_exif(orientation: int = 1) -> Any:
    exif = Image.Exif()
    exif[MAKER], exif[ORIENTATION] = "Secret Camera", orientation
    exif.get_ifd(GPS)[1] = "N 59.91"
    return exif


def png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG that says it has this size; its pixels are what they are."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = [(b"IHDR", head), *chunks, (b"IDAT", zlib.compress(b"\0" * 10)), (b"IEND", b"")]
    return pictures.PNG_SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in rows
    )


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP"])
def test_each_format_is_known_by_its_content_and_measured(name: str) -> None:
    photo = read_photo(picture(name))
    assert photo.content_type == f"image/{name.lower()}"
    assert (photo.width, photo.height) == (300, 400)
    assert Image.open(io.BytesIO(photo.content)).size == (300, 400)


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP"])
def test_the_place_and_the_camera_are_removed(name: str) -> None:
    content = picture(name, exif=camera_exif())
    assert b"Secret Camera" in content
    photo = read_photo(content)
    assert b"Secret Camera" not in photo.content
    assert b"59.91" not in photo.content


def test_a_photo_that_lies_on_its_side_is_measured_as_it_is_shown() -> None:
    photo = read_photo(picture("JPEG", exif=camera_exif(orientation=6)))
    assert (photo.width, photo.height) == (400, 300)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", pictures.PHOTO_EMPTY),
        (b"MZ\x90\0" + b"\0" * 99, pictures.NOT_A_PHOTO),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", pictures.OTHER_FORMAT),
        (picture("GIF"), pictures.OTHER_FORMAT),
        (picture("JPEG")[:400], pictures.PHOTO_DAMAGED),
        (picture("PNG")[:60], pictures.PHOTO_DAMAGED),
        (picture("WEBP")[:40], pictures.PHOTO_DAMAGED),
        (png(300, 400).replace(b"IDAT", b"IDAX"), pictures.PHOTO_DAMAGED),
        (png(0, 400), pictures.PHOTO_DAMAGED),
        (png(300, 400, (b"acTL", b"\0" * 8)), pictures.PHOTO_ANIMATED),
        (b"\xff\xd8\xff" + b"\0" * (10 * 1024**2), pictures.PHOTO_TOO_LARGE),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
def test_what_is_no_photo_is_refused_with_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(PhotoRefused) as refused:
        read_photo(content)
    assert str(refused.value) == sentence


def test_a_small_file_with_huge_pixels_is_refused_without_being_decoded() -> None:
    with pytest.raises(PhotoRefused) as refused:
        read_photo(png(60_000, 60_000))
    assert "60,000 × 60,000 pixels" in str(refused.value)


def test_what_follows_the_picture_is_dropped() -> None:
    photo = read_photo(picture("JPEG") + b"PK\x03\x04 an archive")
    assert b"archive" not in photo.content


def test_a_png_has_one_header_and_it_comes_first() -> None:
    """A decoder may take the size from another header than the limit does."""
    second = struct.pack(">IIBBBBB", 10, 10, 8, 2, 0, 0, 0)
    content = png(30_000, 30_000, (b"IHDR", second))
    assert content.count(b"IHDR") == 2
    with pytest.raises(PhotoRefused, match="damaged"):
        read_photo(content)
    with pytest.raises(MediaFileRefused, match="damaged"):
        read_media_file(content)


def test_only_listed_parts_of_a_picture_stay() -> None:
    parts = [(name, SECRET) for name in (b"prIv", b"iTXt", b"vpAg", b"dSIG")]
    kept = read_photo(png(30, 40, (b"gAMA", bytes(4)), *parts)).content
    assert kept == png(30, 40, (b"gAMA", bytes(4)))
    before = picture("JPEG", icc_profile=b"profile " * 40)
    added = b"".join(
        b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
        for marker, data in (
            *((marker, SECRET) for marker in range(0xE0, 0xF0)),
            *((0xE0, b"JFXX\0" + SECRET), (0xF5, SECRET), (0xFE, SECRET)),
        )
    )
    assert read_photo(before[:20] + added + before[20:]).content == before
    small = before[:2] + b"\xff\xe0\0\x1fJFIF\0" + bytes(9) + SECRET[:15] + before[20:]
    assert SECRET[:15] not in read_photo(small).content
