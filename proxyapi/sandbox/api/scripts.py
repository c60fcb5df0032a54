"""PUT /faceless/{faceless}/scripts: write a script for a draft; charges each time."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints, field_validator

from proxyapi.sandbox import money, writer
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.api.faceless import find
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.errors import Invalid
from proxyapi.sandbox.faceless import changes, record
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.gate import Call, Caller, gated
from proxyapi.sandbox.money import Use
from proxyapi.sandbox.records import Charge

router = APIRouter(prefix="/faceless", tags=["Faceless videos"], route_class=gated(find=find))

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
    changes.refuse_busy(call, call.owned)
    topic = (wanted.topic or call.owned.topic or call.owned.title or "").strip()
    if not topic:
        raise Invalid({"topic": ["The topic field is required."]})
    charge = generate(call, topic, wanted)
    shown = record.show(call, call.owned)
    return success(shown, "Script generated", meta=money.meta(call, charge))


def use(call: Call) -> Use:
    """One script, written or scraped: both charge CONTENT_PROMPT_REQUESTED."""
    feature = "content_prompt_requested"
    credits = money.price(call.world, feature)
    resource = f"faceless:{call.owned.id}"
    return Use(feature, credits, resource, "Script generation", "content-prompt")


def generate(call: Call, topic: str, wanted: Options) -> Charge:
    """Write the script, charge for it and store it in the draft."""
    money.require(call, use(call))
    script = writer.write(
        topic,
        seconds=wanted.duration,
        style=wanted.style or "",
        tone=wanted.tone or "",
        language=writer.language_code(wanted.language or "en") or "en",
        chance=call.world.chance("script"),
    )
    charge = money.charge(call, use(call))
    keep(call, topic, script)
    return charge


def keep(call: Call, topic: str, script: str) -> None:
    """Store a script in the call's draft."""
    world, video = call.world, call.owned
    video.script = script
    video.topic = topic[:500]
    video.title = video.title or topic[:255]
    video.updated_at = world.now
    world.videos.put(video)
