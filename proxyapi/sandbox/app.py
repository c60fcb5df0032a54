"""The sandbox as an ASGI application; tests run it in-process, the command over a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from proxyapi.sandbox import api, control, docs_page, envelope, media_files
from proxyapi.sandbox.clock import SandboxClock
from proxyapi.sandbox.errors import (
    ApiError,
    MethodNotAllowed,
    NotFound,
    ValidationError,
    WrongArguments,
)
from proxyapi.sandbox.frontend import SandboxFrontend
from proxyapi.sandbox.job_runner import JobRunner
from proxyapi.sandbox.media_makers import Maker, ProcessMaker
from proxyapi.sandbox.store import Store
from proxyapi.sandbox.world import World


def create_app(
    *,
    media_dir: Path,
    db: Path | None = None,
    seed: int | None = None,
    clock: SandboxClock | None = None,
    maker: Maker | None = None,
    public_url: str | None = None,
) -> FastAPI:
    """A sandbox with its own world; `app.state.world` is that world.

    Without `db` the world is gone with the process. `public_url` is the base of media
    addresses; left out, it is the base that each request was sent to.
    """
    store = Store(db) if db is not None else None
    world = World(seed=seed, clock=clock or SandboxClock(), store=store)
    world.commit()
    made_by = maker or ProcessMaker()
    studio = JobRunner(world, media_dir, made_by)
    app = FastAPI(
        title="Video generation API v2, sandbox",
        version="2.0.0",
        lifespan=_lifespan(studio, made_by),
        separate_input_output_schemas=False,
        redirect_slashes=False,
        docs_url=None,  # those pages load their scripts from elsewhere
        redoc_url=None,
    )
    app.state.world, app.state.studio, app.state.public_url = world, studio, public_url
    app.router.routes.extend(_routes())
    _answer_errors(app)
    app.add_middleware(SandboxFrontend, studio=studio)
    return app


@cache
def _routes() -> tuple[BaseRoute, ...]:
    """All routes; they know no world, and to work them out takes longer than a test."""
    router = APIRouter()
    for part in (api.router(), control.router(), media_files.router, docs_page.router):
        router.include_router(part)
    return tuple(router.routes)


def _lifespan(
    studio: JobRunner, maker: Maker
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        studio.tick()  # films that a killed server left unmade
        yield
        if isinstance(maker, ProcessMaker):
            await maker.stop()
        studio.world.commit()
        if studio.world.store is not None:
            studio.world.store.close()

    return life


def _answer_errors(app: FastAPI) -> None:
    @app.exception_handler(ApiError)
    async def refuse(request: Request, error: ApiError) -> Response:
        return envelope.refusal_body(error, request.app.state.world.settings)

    @app.exception_handler(ValidationError)
    async def answer_invalid(request: Request, error: ValidationError) -> Response:
        return envelope.validation_body(error)

    @app.exception_handler(RequestValidationError)
    async def describe_fields(request: Request, error: RequestValidationError) -> Response:
        return envelope.validation_body(envelope.field_errors(list(error.errors())))

    @app.exception_handler(HTTPException)
    async def translate(request: Request, error: HTTPException) -> Response:
        settings = request.app.state.world.settings
        if not request.url.path.startswith("/v2/"):
            body = {"message": error.detail, "status": error.status_code}
            return JSONResponse(body, error.status_code)
        if error.status_code == 405:
            return envelope.refusal_body(MethodNotAllowed(_allowed_methods(app, request)), settings)
        if error.status_code == 404 and settings.dialect == "service-v1":
            return JSONResponse("Not Found!", 404)
        if error.status_code == 404:
            return envelope.refusal_body(NotFound("This path does not exist."), settings)
        if error.status_code == 400:  # a body that is too deep, or no Unicode
            return envelope.refusal_body(WrongArguments("The body cannot be read."), settings)
        return envelope.refusal_body(ApiError(str(error.detail)), settings)


def _allowed_methods(app: FastAPI, request: Request) -> list[str]:
    """Every method that some route has for the path."""
    found = set()
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        scope = {**request.scope, "method": method}
        if any(route.matches(scope)[0] is Match.FULL for route in app.routes):
            found.add(method)
    return sorted(found)
