"""The fields that the spec's resource tables name are in the sandbox's answers, as typed."""

from __future__ import annotations

import re
from datetime import datetime

import pytest

from tests.contract import spec, staging
from tests.sandbox.conftest import READY_SETTINGS

TYPES = {"integer": int, "string": str, "boolean": bool, "object": dict}
TABLES = {
    "### Account (response of GET /me)": "/v2/me",
    "### Credit ledger entry": "/v2/credits/history",
    "### Auto top-up preference": "/v2/account/auto-topup",
}


@pytest.mark.parametrize(("heading", "path"), TABLES.items())
def test_a_table_of_fields_is_what_is_answered(sandbox, heading, path):
    sandbox.put("/v2/account/auto-topup", {"enabled": True, "type": "dynamic-credits", "units": 5})
    sandbox.put(f"/v2/faceless/{sandbox.draft()}/scripts", staging.SCRIPT)
    shown = staging.response_data(sandbox.get(path))
    record = shown[0] if isinstance(shown, list) else shown
    rows = spec.read_table(heading)
    assert set(record) == {row[0] for row in rows}
    for name, kind, notes in rows:
        fits(record[name], kind, notes)


def fits(value: object, kind: str, notes: str) -> None:
    """Whether a value is of the type, and as the notes say, that the table gives."""
    if value is None:
        assert "or null" in kind or "set for" in notes
        return
    assert type(value) is TYPES[kind.split()[0]]
    if "ISO 8601" in notes and isinstance(value, str):
        assert datetime.fromisoformat(value).tzinfo is not None
    if isinstance(value, dict):
        inner = re.findall(r"(\w+) \((integer|boolean|string|ISO 8601)", notes)
        assert set(value) == {name for name, _ in inner}
        for name, word in inner:
            assert type(value[name]) is TYPES.get(word, str)


def test_the_cost_map_has_credits_and_free_uses(sandbox):
    costs = staging.response_data(sandbox.get("/v2/credits/costs"))
    assert "content_prompt_requested" in costs
    for price in costs.values():
        assert type(price["credits"]) is int
        assert set(price) <= {"credits", "free"}


@pytest.mark.parametrize(("group", "fields"), spec.read_table("mandatory:"))
def test_a_mandatory_group_of_options_has_its_fields(sandbox, group, fields):
    items = staging.response_data(sandbox.get("/v2/faceless/options"))["mandatory"][group]
    named = re.findall(r"(?:^|, )(\w+)(?= \(|,|$)", re.sub(r"\([^)]*\)", "()", fields))
    assert named
    assert all(set(named) <= set(item) for item in items)


def test_every_optional_group_is_there_and_named(sandbox):
    text = spec.spec_text()
    listed = text[text.index("optional, each item") : text.index("### Text-to-video asset")]
    groups = re.findall(r"[a-z_]+", listed.split("\n- ")[1].split("(")[0])
    groups += re.findall(r"^- (\w+):", listed, re.MULTILINE)
    optional = staging.response_data(sandbox.get("/v2/faceless/options"))["optional"]
    assert set(optional) == set(groups)
    for items in optional.values():
        assert all({"name", "slug"} <= set(item) for item in items)
    engines = optional["clip_engines"]
    rates = [entry["credits_per_second"] for engine in engines for entry in engine["cost"]]
    assert (min(rates), max(rates)) == (0.68, 12.16)


def test_only_takes_csv_and_array_syntax(sandbox):
    for query in ("only=genres,fonts", "only[]=genres&only[]=fonts"):
        shown = staging.response_data(sandbox.get(f"/v2/faceless/options?{query}"))
        assert [list(shown["mandatory"]), list(shown["optional"])] == [["genres"], ["fonts"]]


def test_a_faceless_video_has_the_named_fields_and_its_video(sandbox):
    text = spec.spec_text()
    named = text[text.index("Named fields: id") : text.index("No include parameter")]
    fields = re.findall(r"(\w+) \(|(?:, )(title|script)", named)
    shown = staging.response_data(sandbox.get(f"/v2/faceless/{sandbox.draft(**READY_SETTINGS)}"))
    assert {one or other for one, other in fields} <= set(shown)
    assert set(shown["video"]) == {"status", "url", "failure"}


def test_the_value_families_of_the_clip_engines_are_all_offered(sandbox):
    models = staging.response_data(sandbox.get("/v2/text-to-video/models"))
    text = spec.spec_text()
    for name, label in (("aspect_ratio", "- Aspect ratios: "), ("resolution", "- Resolutions: ")):
        line = text[text.index(label) + len(label) :].split("(")[0]
        family = {value.strip() for value in line.split(",")}
        offered = {it for model in models for it in model["modifiers"][name]["options"]}
        assert offered == family
    durations = [tuple(model["modifiers"]["duration"]["options"]) for model in models]
    assert {(4, 6, 8), (5, 8, 12), (5, 10), (6, 10)} <= set(durations)
    assert any(len(it) > 10 and it[0] >= 1 and it[-1] <= 15 for it in durations)
