"""The library of videos and one video's page. `changes` is for the live stream; other areas link by
URL name."""

from __future__ import annotations
