"""Addresses of media: an unguessable name, and with a limited life an expiry that is signed."""

from __future__ import annotations

import hmac
import re
from hashlib import sha256

from fastapi import Request

from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.world import World

TYPES = {
    "mp4": "video/mp4",
    "jpg": "image/jpeg",
    "png": "image/png",
    "webp": "image/webp",
    "gif": "image/gif",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
}
NAME = re.compile(rf"[0-9a-f]{{32}}\.({'|'.join(TYPES)})")


def build_media_url(call: ApiCall, name: str) -> str:
    """The address of a file as the API gives it out now."""
    base = str(call.request.app.state.public_url or call.request.base_url).rstrip("/")
    url = f"{base}/media/{name}"
    life = call.world.settings.media_url_seconds
    if life is None:
        return url
    expires = str(int(call.world.now) + life)
    return f"{url}?expires={expires}&signature={_sign(call.world, name, expires)}"


def is_valid_media_url(world: World, name: str, request: Request) -> bool:
    """Whether an address is one that was given out and has not run out."""
    if NAME.fullmatch(name) is None:
        return False
    if world.settings.media_url_seconds is None:
        return True
    expires = request.query_params.get("expires", "")
    signature = request.query_params.get("signature", "")
    genuine = hmac.compare_digest(_sign(world, name, expires).encode(), signature.encode())
    return genuine and float(expires) > world.now


def _sign(world: World, name: str, expires: str) -> str:
    key = f"media/{world.seed}".encode()
    return hmac.new(key, f"{name}/{expires}".encode(), sha256).hexdigest()[:32]
