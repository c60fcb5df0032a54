"""PUT /faceless/{faceless}/scripts: write a script for a draft; charges each time."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints, field_validator

from proxyapi.sandbox import billing, dialect, writer
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.api.faceless import find_video
from proxyapi.sandbox.authorization import ApiCall, Caller, make_route_class
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.faceless import changes, record
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.records import Charge

router = APIRouter(
    prefix="/faceless", tags=["Faceless videos"], route_class=make_route_class(find=find_video)
)

Duration = Literal[30, 60, 180, 300, 600, 900, 1200]
Words = Annotated[str, StringConstraints(max_length=60)]


class Options(Body):
    """What a script is to be like, wherever its matter comes from."""

    duration: Duration = Field(description="Seconds of speech.")
    style: Words | None = None
    tone: Words | None = None
    language: Words | None = None

    @field_validator("language", mode="after")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        if value is not None and writer.language_code(value) is None:
            raise ValueError("The selected language is invalid.")
        return value


class ScriptOptions(Options):
    topic: Annotated[str, StringConstraints(max_length=500)] | None = Field(
        default=None, description="Left out, the draft's topic or title is used."
    )


@router.put("/{faceless}/scripts", response_model=shapes.Charged[shapes.FacelessShape])
async def write_script(call: Caller, wanted: ScriptOptions) -> Response:
    changes.refuse_busy_video(call, call.owned)
    topic = (wanted.topic or call.owned.topic or call.owned.title or "").strip()
    if not topic:
        raise ValidationError({"topic": ["The topic field is required."]})
    charge = generate_script(call, topic, wanted)
    shown = record.show_video(call, call.owned)
    return success_body(shown, "Script generated", meta=billing.credits_meta(call, charge))


def script_use(call: ApiCall) -> FeatureUse:
    """One script, written or scraped: both charge CONTENT_PROMPT_REQUESTED."""
    feature = "content_prompt_requested"
    credits = billing.get_price(call.world, feature)
    resource = f"faceless:{call.owned.id}"
    return FeatureUse(feature, credits, resource, "Script generation", "content-prompt")


def generate_script(call: ApiCall, topic: str, wanted: Options) -> Charge:
    """Write the script, charge for it and store it in the draft."""
    if missing := dialect.missing_script_fields(call.world.settings.dialect, wanted):
        raise ValidationError(missing)
    billing.require_credits(call, script_use(call))
    script = writer.write(
        topic,
        seconds=wanted.duration,
        style=wanted.style or "",
        tone=wanted.tone or "",
        language=writer.language_code(wanted.language or "en") or "en",
        chance=call.world.random_source("script"),
    )
    charge = billing.charge_credits(call, script_use(call))
    store_script(call, topic, script)
    return charge


def store_script(call: ApiCall, topic: str, script: str) -> None:
    """Store a script in the call's draft."""
    world, video = call.world, call.owned
    video.script = script
    video.topic = topic[:500]
    video.title = video.title or topic[:255]
    video.updated_at = world.now
    world.videos.put(video)
