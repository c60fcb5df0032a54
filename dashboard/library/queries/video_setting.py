"""A setting of a video, as its page lists it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VideoSetting:
    """`url` is the page of the video that it was taken from."""

    label: str
    value: str
    url: str = ""
