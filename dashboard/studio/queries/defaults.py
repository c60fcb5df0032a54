"""What a new draft starts with where neither the member nor a preset chose: the member's last
settings, else the team's last ones of the type, else the first value of each needed setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, QuerySet, Subquery, Value, When

from dashboard.models import BrandKit, Membership, Preset
from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.flows import DEFAULT_FLOW, FLOWS, Flow, SettingControl
from dashboard.studio.kept_settings.capture import draft_origin
from dashboard.studio.kept_settings.new_drafts import build_draft_start
from dashboard.studio.queries.past_costs import CLIP_FIELDS, ENGINE_FIELDS
from proxyapi.credentials import token_vault
from proxyapi.models import Account, Draft, Job, JobKind, Token

DEFAULT_SCRIPT_DURATION_S = 60
FORMAT_FIELD = "aspect_ratio"
CLIP_ENGINE_FIELD = CLIP_FIELDS[0]


@dataclass(frozen=True, slots=True)
class StartChoices:
    """The choices beside the quick start field; `duration` is the script's length in seconds."""

    type: str = DEFAULT_FLOW.type
    duration: int = DEFAULT_SCRIPT_DURATION_S
    aspect_ratio: str = ""


def load_start_token(reader: Membership) -> tuple[Token | None, StartChoices]:
    """Return the reader's token for new drafts, else one that stopped or is paused, and the choices
    of their default preset, else of their last draft or video; one query, two with a preset."""
    own_drafts = drafts_of_team(reader).filter(job__member=reader.user_id)
    last = own_drafts.order_by("-job__created_at")
    tokens = Token.objects.not_removed().filter(tenant=reader.team.tenant_id, owner=reader.user_id)
    best: list[Any] = list(
        tokens.select_related("account")
        .annotate(
            last_settings=Subquery(last.values("settings")[:1]),
            last_script_request=Subquery(last.values("job__draft_origin__script_request")[:1]),
        )
        .best_first()
    )
    ready = [token for token in best if token.account.is_of_current_upstream]
    token = token_vault.first_decryptable(ready or best)
    if reader.default_preset is not None:
        return token, preset_start_choices(reader.default_preset)
    if not best:
        return token, StartChoices()
    return token, build_start_choices(best[0].last_settings, best[0].last_script_request)


def build_start_choices(
    chosen: dict[str, Any] | None, script_request: dict[str, Any] | None
) -> StartChoices:
    chosen, duration = chosen or {}, (script_request or {}).get("duration")
    return StartChoices(
        type=FLOWS.get(str(chosen.get("type")), DEFAULT_FLOW).type,
        duration=duration if isinstance(duration, int) else DEFAULT_SCRIPT_DURATION_S,
        aspect_ratio=str(chosen.get(FORMAT_FIELD) or ""),
    )


def preset_start_choices(preset: Preset) -> StartChoices:
    ratio = preset.options.get(FORMAT_FIELD, {}).get("slug")
    return build_start_choices({"type": preset.type, FORMAT_FIELD: ratio}, preset.script_request)


def load_script_defaults(job: Job) -> dict[str, Any]:
    """Return the length, style, tone and language that the form of a script starts with."""
    origin = draft_origin(job)
    return dict(origin.script_request) if origin else {}


def load_start_settings(
    reader: Membership,
    account: Account | None,
    options: FacelessOptions,
    flow: Flow,
    chosen: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the settings that decide the price of a new draft of this type, as `start_draft` will
    set them; one query, none for a type without engines."""
    chosen = {**chosen, "type": flow.type}
    if account is None or not any(name in flow.settings for name in ENGINE_FIELDS):
        return dict(chosen)
    fallback = load_default_settings(reader, account, options, flow, chosen)
    kit: BrandKit | None = getattr(reader.team, "brand_kit", None)
    return build_draft_start(reader, account, chosen, None, fallback, kit).settings


def load_default_settings(
    reader: Membership,
    account: Account,
    options: FacelessOptions,
    flow: Flow,
    chosen: Mapping[str, Any],
    until: datetime | None = None,
) -> dict[str, Any]:
    """Return the settings of a new draft of this type: what was `chosen` and the defaults for the
    rest; one query.

    Defaults are those of the member's last draft or video of the type on this service, else of the
    team's last one, made `until` then. A value that the account does not offer any more is left
    out; a setting that is needed then has the first value offered. Empty while the account's
    options are not known.
    """
    is_own = Case(When(job__member=reader.user_id, then=Value(0)), default=Value(1))
    drafts = drafts_of_team(reader).filter(
        settings__type=flow.type, job__account__environment=account.environment
    )
    drafts = drafts.filter(job__created_at__lte=until) if until else drafts
    last = drafts.order_by(is_own, "-job__created_at").values_list("settings", flat=True).first()
    return {**offered_settings(flow, {**(last or {}), **chosen}, options), **chosen}


def offered_settings(
    flow: Flow, chosen: dict[str, Any], options: FacelessOptions
) -> dict[str, Any]:
    """Return the chosen values that are offered, and the first one of each needed setting without
    such a value."""
    kept: dict[str, Any] = {}
    for setting in flow.settings.values():
        if setting.control in (SettingControl.ENGINES, SettingControl.WITH_ENGINE):
            continue
        choice = options.selected_choice(setting.name, chosen)
        if choice is None and (setting.is_needed or setting.starts_with_first):
            choice = next(iter(options.choices(setting.name)), None)
        if choice is not None:
            kept[setting.name] = choice.upstream_value
    is_of_clips = CLIP_ENGINE_FIELD in flow.settings
    return {**kept, **(legal_clip_engine(flow, {**chosen, **kept}, options) if is_of_clips else {})}


def legal_clip_engine(
    flow: Flow, chosen: dict[str, Any], options: FacelessOptions
) -> dict[str, Any]:
    """Return the chosen clip engine with resolution and audio if the video can be made with it;
    else the first engine that makes the format, at its lowest price."""
    checks = [need.find_problem for need in flow.preconditions if need.field == CLIP_ENGINE_FIELD]
    if chosen.get(CLIP_ENGINE_FIELD) and not any(find(chosen, options) for find in checks if find):
        return {name: chosen[name] for name in CLIP_FIELDS if chosen.get(name)}
    ratio = str(chosen.get(FORMAT_FIELD) or "")
    for engine in options.clip_engines:
        offered = sorted(engine.offered.values(), key=lambda one: one.credits_per_second or 0)
        if engine.is_in_plan and engine.makes_ratio(ratio) and offered:
            values = (engine.upstream_value, offered[0].resolution, offered[0].audio)
            return {name: value for name, value in zip(CLIP_FIELDS, values, strict=True) if value}
    return {}


def drafts_of_team(reader: Membership) -> QuerySet[Draft]:
    """Return the drafts of the team's videos, rendered or not, hidden ones too."""
    return Draft.objects.filter(job__tenant=reader.team.tenant_id, job__kind=JobKind.FACELESS)
