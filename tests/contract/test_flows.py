"""The creation flows of the studio offer what the specification lists for their type, need what it
requires of a render, and the sandbox takes every setting they can send."""

from __future__ import annotations

import re

import pytest

from dashboard.shared.video_options import OPTION_FIELDS, parse_faceless_options
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
}
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
    assert {group for group, _ in OPTION_FIELDS.values()} == groups
    names = {group: name for name, (group, _) in OPTION_FIELDS.items()}
    assert sent_names().items() <= names.items()
    for name, (group, _) in OPTION_FIELDS.items():
        assert group in sent_names() or group.removesuffix("s") == name or name == group


@each_flow
def test_a_flow_asks_for_what_is_mandatory_and_leaves_the_rest_open(flow: Flow) -> None:
    for setting in flow.settings.values():
        group, _ = OPTION_FIELDS[setting.name]
        assert setting.is_optional == (group not in MANDATORY_GROUPS), setting.name
    assert {"aspect_ratio", "voice_id"} <= flow.settings.keys()


@each_flow
def test_a_flow_has_a_genre_and_an_image_engine_only_where_they_apply(flow: Flow) -> None:
    concerned = preconditions_of(flow.type)["ai-visuals or ai-clips without genre"]
    assert ("genre_id" in flow.settings) == concerned
    assert ("image_engine_id" in flow.settings) == (flow.type == "ai-visuals")
    assert ("clip_engine_id" in flow.settings) == (flow.type == "ai-clips")


@each_flow
def test_a_flow_needs_what_a_render_of_its_type_needs(flow: Flow) -> None:
    expected = [ROW_FIELDS[row] for row, holds in preconditions_of(flow.type).items() if holds]
    assert [(need.field, need.must_be_offered) for need in flow.preconditions] == expected
    asked = list(dict.fromkeys(need.field for need in flow.preconditions))
    assert asked == missing_render_fields({"type": flow.type})
    for need in flow.preconditions:
        settings = [setting.name for setting in flow.steps_by_slug[need.step].settings]
        assert need.field in ("script", *settings)


@each_flow
def test_the_sandbox_takes_every_setting_of_a_flow(flow: Flow, sandbox: SandboxClient) -> None:
    options = parse_faceless_options(response_data(sandbox.get("/v2/faceless/options")))
    chosen = {name: options.choices(name)[-1].upstream_value for name in flow.settings}
    number = sandbox.draft(type=flow.type)
    answer = sandbox.patch(f"/v2/faceless/{number}", {**chosen, "script": "Ice moves."})
    assert answer.status_code == 200, answer.text
    record = response_data(sandbox.get(f"/v2/faceless/{number}"))
    assert {name: record[name] for name in chosen} == chosen
    estimate = response_data(sandbox.get(f"/v2/faceless/{number}/estimate"))
    assert estimate["cost"] > 0
    assert sandbox.post(f"/v2/faceless/{number}/render").status_code == 202
