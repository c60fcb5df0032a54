"""GET /media/{name}: films, pictures and sounds, with byte ranges.

A picture that was promised and not looked at yet is drawn when it is asked for.
"""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse

from proxyapi.sandbox import media_url
from proxyapi.sandbox.job_runner import JobRunner

router = APIRouter()


@router.api_route("/media/{name}", methods=["GET", "HEAD"], include_in_schema=False)
async def serve_media(request: Request, name: str) -> Response:
    studio: JobRunner = request.app.state.studio
    path = studio.media_dir / name
    if not media_url.is_valid_media_url(studio.world, name, request):
        raise HTTPException(404)
    if not path.is_file() and not await studio.pictures.ensure_drawn(name):
        raise HTTPException(404)
    # A page of the portal plays it from another origin.
    headers = {"Cross-Origin-Resource-Policy": "cross-origin"}
    kind = media_url.TYPES[name.rpartition(".")[2]]
    return FileResponse(path, media_type=kind, headers=headers)
