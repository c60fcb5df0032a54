"""Videos and streams as the library's tests make them."""

from __future__ import annotations

from tests.dashboard.library.conftest import (
    account,
    add_open_charge,
    add_settled_charge,
    make_video_job,
    stream_session_of,
    token,
)

__all__ = [
    "account",
    "add_open_charge",
    "add_settled_charge",
    "make_video_job",
    "stream_session_of",
    "token",
]
