"""The creation flows of the studio offer what the specification lists for their type, need what it
requires of a render, and the sandbox takes every setting they can send."""

from __future__ import annotations

import json
import re

import pytest

from dashboard.shared.video_options import OPTION_FIELDS, FacelessOptions, parse_faceless_options
from dashboard.studio.flows import FLOWS, Flow
from proxyapi.kinds.faceless_draft import missing_render_fields
from tests.contract import spec
from tests.contract.staging import response_data
from tests.sandbox.conftest import SandboxClient

MANDATORY_GROUPS = {row[0]: row[1] for row in spec.read_table("mandatory:")}
OPTIONAL_GROUPS = spec.read_bullets("optional, each item")
# Rows of the preconditions that are about the draft, each with the setting that meets it.
ROW_FIELDS = {
    "no script set": ("script", False),
    "no voice_id": ("voice_id", False),
    "unknown voice id": ("voice_id", True),
    "ai-visuals or ai-clips without genre": ("genre_id", True),
    "url-based with no scraped assets": ("assets", False),
}
# Resolution and audio are no option groups: their values are those of the clip engines' prices.
ENGINE_FIELDS = {"resolution", "audio"}
TYPES = ("ai-visuals", "ai-clips", "b-roll", "url-based")
each_flow = pytest.mark.parametrize("flow", FLOWS.values(), ids=list(FLOWS))


def preconditions_of(type_: str) -> dict[str, bool]:
    """The rows that concern a type: those that name it, and those that name none."""
    rows = [row for row in spec.preconditions() if row in ROW_FIELDS]
    named = {row: [name for name in TYPES if name in row] for row in rows}
    return {row: not named[row] or type_ in named[row] for row in rows}


def sent_names() -> dict[str, str]:
    """Group: the name that its values are sent as, where the specification gives one."""
    rows = [*(f"{group}: {text}" for group, text in MANDATORY_GROUPS.items()), *OPTIONAL_GROUPS]
    found = (re.match(r"(\w+):.*sent as (\w+)\)", row) for row in rows)
    return {match[1]: match[2] for match in found if match}


def test_the_settings_are_the_option_groups_of_the_specification() -> None:
    plain = re.findall(r"[a-z_]+(?=,|\s\(|\.|$)", OPTIONAL_GROUPS[0].split(" (")[0])
    groups = {*MANDATORY_GROUPS, *plain, *sent_names()}
    fields = {name: group for name, (group, _) in OPTION_FIELDS.items()}
    assert fields.keys() >= ENGINE_FIELDS
    fields = {name: group for name, group in fields.items() if name not in ENGINE_FIELDS}
    assert set(fields.values()) == groups
    assert sent_names().items() <= {group: name for name, group in fields.items()}.items()
    for name, group in fields.items():
        assert group in sent_names() or group.removesuffix("s") == name or name == group


@each_flow
def test_a_flow_asks_for_what_is_mandatory_and_leaves_the_rest_open(flow: Flow) -> None:
    for setting in flow.settings.values():
        group, _ = OPTION_FIELDS[setting.name]
        # Without an engine the service has no price for AI clips.
        is_required = group in MANDATORY_GROUPS or setting.name == "clip_engine_id"
        assert setting.is_optional != is_required, setting.name
    assert {"aspect_ratio", "voice_id"} <= flow.settings.keys()


@each_flow
def test_a_flow_has_a_genre_and_an_image_engine_only_where_they_apply(flow: Flow) -> None:
    concerned = preconditions_of(flow.type)["ai-visuals or ai-clips without genre"]
    assert ("genre_id" in flow.settings) == concerned
    assert ("image_engine_id" in flow.settings) == (flow.type == "ai-visuals")
    assert ("clip_engine_id" in flow.settings) == (flow.type == "ai-clips")


@each_flow
def test_a_flow_needs_what_a_render_of_its_type_needs(flow: Flow) -> None:
    expected = {ROW_FIELDS[row] for row, holds in preconditions_of(flow.type).items() if holds}
    needs = [need for need in flow.preconditions if not need.only_if_offered]
    assert {(need.field, need.must_be_offered) for need in needs} == expected
    assert {need.field for need in needs} == set(missing_render_fields({"type": flow.type}))
    for need in flow.preconditions:
        settings = [setting.name for setting in flow.steps_by_slug[need.step].settings]
        assert need.field in ("script", "assets", *settings)


def legal_clip_settings(options: FacelessOptions) -> dict[str, int | str | None]:
    """Return an engine of the plan with a format, resolution and sound that it makes."""
    engine = next(one for one in options.clip_engines if one.offered and one.is_in_plan)
    combination = next(iter(engine.offered.values()))
    return {
        "clip_engine_id": engine.upstream_value,
        "aspect_ratio": engine.aspect_ratios[0],
        "resolution": combination.resolution or None,
        "audio": combination.audio or None,
    }


@each_flow
def test_the_sandbox_takes_every_setting_of_a_flow(flow: Flow, sandbox: SandboxClient) -> None:
    answers = [sandbox.get(f"/v2/{path}") for path in ("faceless/options", "text-to-video/models")]
    # As accounts store them: amounts as text.
    data = [json.loads(answer.text, parse_float=str)["data"] for answer in answers]
    options = parse_faceless_options(*data)
    chosen: dict[str, int | str | None] = {
        name: options.choices(name)[-1].upstream_value for name in flow.settings
    }
    if "clip_engine_id" in chosen:
        chosen |= legal_clip_settings(options)
    number = sandbox.draft(type=flow.type)
    if flow.type == "url-based":
        url = "https://travel.example.com/2026/night-trains-return"
        read = sandbox.post(f"/v2/faceless/{number}/scrape-images", {"url": url})
        assert read.is_success, read.text
    answer = sandbox.patch(f"/v2/faceless/{number}", {**chosen, "script": "Ice moves."})
    assert answer.status_code == 200, answer.text
    record = response_data(sandbox.get(f"/v2/faceless/{number}"))
    assert {name: record[name] for name in chosen} == chosen
    estimate = response_data(sandbox.get(f"/v2/faceless/{number}/estimate"))
    assert estimate["cost"] > 0
    assert sandbox.post(f"/v2/faceless/{number}/render").status_code == 202
