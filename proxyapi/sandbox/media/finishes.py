"""The hand of each genre: what is done to a drawn picture before the camera sees it."""

from __future__ import annotations

from PIL import Image


def finish(picture: Image.Image, genre: str, seed: int) -> Image.Image:
    return picture
