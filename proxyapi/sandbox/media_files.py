"""GET /media/{name}: finished films, with byte ranges."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse

from proxyapi.sandbox import media_url
from proxyapi.sandbox.studio import Studio

router = APIRouter()


@router.api_route("/media/{name}", methods=["GET", "HEAD"], include_in_schema=False)
async def serve_film(request: Request, name: str) -> Response:
    studio: Studio = request.app.state.studio
    path = studio.media_dir / name
    if not media_url.valid(studio.world, name, request) or not path.is_file():
        raise HTTPException(404)
    # A page of the portal plays it from another origin.
    headers = {"Cross-Origin-Resource-Policy": "cross-origin"}
    return FileResponse(path, media_type="video/mp4", headers=headers)
