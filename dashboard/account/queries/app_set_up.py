"""The set-up of an authenticator app: the QR code as an SVG path, and the key in text."""

from __future__ import annotations

from dataclasses import dataclass

from allauth.mfa.adapter import get_adapter

from dashboard.models import User

KEY_GROUP = 4  # characters


@dataclass(frozen=True, slots=True)
class AppSetUp:
    """`size`: modules on a side of the QR code; `path`: its dark ones. `url` opens an app."""

    key: str
    url: str
    size: int
    path: str


def build_app_set_up(user: User, secret: str) -> AppSetUp:
    from qrcode.main import QRCode  # imports all of Pillow where that is installed

    url = get_adapter().build_totp_url(user, secret)
    code = QRCode(border=0)
    code.add_data(url)
    code.make()
    rows: list[list[bool]] = code.get_matrix()
    groups = (secret[i : i + KEY_GROUP] for i in range(0, len(secret), KEY_GROUP))
    path = "".join(build_row_path(row, y) for y, row in enumerate(rows))
    return AppSetUp(" ".join(groups), url, len(rows), path)


def build_row_path(row: list[bool], y: int) -> str:
    """Return one rectangle for each run of dark modules."""
    path, start = "", None
    for x, is_dark in enumerate([*row, False]):
        if is_dark and start is None:
            start = x
        elif not is_dark and start is not None:
            path += f"M{start} {y}h{x - start}v1h-{x - start}z"
            start = None
    return path
