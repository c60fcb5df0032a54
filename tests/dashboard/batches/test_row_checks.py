"""Each row is checked with the studio's fields, and each problem names its cell."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.batches.dry_run import load_dry_run
from dashboard.models import BatchRow, Preset
from proxyapi.models import Account, Charge, Job
from tests.dashboard.batches.conftest import dry_run
from tests.dashboard.studio.conftest import OPTIONS, SCRIPT


def problems(by, batch):
    found = dry_run(by, batch).checks
    return [f"{one.cell} {one.sentence}".strip() for check in found for one in check.problems]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Fog,Why,,Marren,,,", "D2 “Marren” is no voice that this account offers. The nearest"),
        ("Fog,Why,,,Westernly,,", "E2 “Westernly” is no genre that this account offers. Possible"),
        ("Fog,Why,,,,45,", "F2 “45” is no length that this account offers. Possible are 30 s"),
        ("Fog,Why,,,,,9:16", "G2 “9:16” is no format that this account offers."),
        ("Fog,,,,,,", "B2 A topic, a script or a link is required."),
        ("Fog,Why,Because ice,,,,", "C2 Enter a topic or a script, not both."),
        ("=1+1,Why,,,,,", "A2 This is a formula. Enter its value."),
        (f"{'x' * 201},Why,,,,,", "A2 It is too long."),
        ("Fog\u202e,Why,,,,,", "A2 It contains an invisible character."),
        ("Fog,Why,,,,,,,extra", "H2 The row has more cells than there are column names."),
    ],
)
def test_a_wrong_cell_is_named(make_batch, priya, line, problem):
    found = problems(priya, make_batch(line))
    assert len(found) == 1
    assert found[0].startswith(problem)


def test_a_legal_row_has_the_values_of_its_cells(make_batch, priya):
    batch = make_batch("Fog,Why fog forms,,THEO,noir,60 s,Portrait")
    (check,) = dry_run(priya, batch).checks
    assert (check.problems, check.title) == ([], "Fog")
    chosen = {"voice_id": 7, "genre_id": 942, "aspect_ratio": "tall-one"}
    assert check.chosen == {"type": "ai-visuals", "topic": "Why fog forms", **chosen}
    assert check.script_request["duration"] == 60
    assert check.settings["image_engine_id"] == 71  # as the member's last draft


def test_a_type_is_known_by_its_name(make_batch, priya):
    headers = "title,topic,type\n"
    batch = make_batch("Fog,Why,AI visuals", "Ice,Why,Claymation", headers=headers)
    found = problems(priya, batch)
    assert [one[:22] for one in found] == ["C3 “Claymation” is no "]


def test_options_that_are_gone_are_a_problem_of_their_cell(make_batch, priya):
    batch = make_batch("Fog,Why,,Theo,,,")
    assert problems(priya, batch) == []
    voices = OPTIONS["mandatory"]["voices"][:1]
    options = {**OPTIONS, "mandatory": {**OPTIONS["mandatory"], "voices": voices}}
    Account.objects.update(options=options)
    assert problems(priya, batch)[0].startswith("D2 “Theo” is no voice")


def test_duplicates_of_rows_and_of_videos_are_left_out_unless_they_are_chosen(make_batch, priya):
    batch = make_batch("Fog,Why,,,,,", "FOG,why,,,,,", "Earlier 60 1,Why,,,,,")
    statuses = [check.status for check in dry_run(priya, batch).checks]
    assert statuses == ["ready", "duplicate", "duplicate"]
    BatchRow.objects.filter(batch=batch, number=2).update(choice="make")
    assert [check.status for check in dry_run(priya, batch).checks][1] == "ready"
    Job.objects.filter(title="Earlier 60 1").update(created_at=timezone.now() - timedelta(days=91))
    assert [check.status for check in dry_run(priya, batch).checks][2] == "ready"


def test_a_preset_is_the_base_of_empty_cells(make_batch, priya):
    preset = Preset.objects.create(
        team=priya.team,
        name="Noir",
        type="ai-visuals",
        options={"genre_id": {"slug": "noir", "name": "Noir"}},
        script_request={"duration": 180},
        created_by=priya.user,
    )
    batch = make_batch("Fog,Why,,,,,", "Ice,Why,,,Cinematic,60,", preset=preset)
    first, second = dry_run(priya, batch).checks
    assert (first.settings["genre_id"], first.script_request["duration"]) == (942, 180)
    assert (second.settings["genre_id"], second.script_request["duration"]) == (941, 60)


def test_prices_are_those_of_the_team_and_of_the_cost_map(make_batch, priya):
    """A topic costs its script, 4, and what renders of its length cost; a script only these. Of
    another length the price of a second is taken."""
    batch = make_batch("Fog,Why,,,,,", f"Ice,,{SCRIPT},,,,", "Sun,Why,,,,180,")
    run = dry_run(priya, batch)
    spans = [(one.low, one.usual, one.high, one.limit) for one in run.prices.values()]
    assert spans == [(92, 100, 104, 131), (88, 96, 100, 127), (268, 292, 304, 384)]
    assert [price.is_guess for price in run.prices.values()] == [False, False, True]
    assert run.total.limit == 642


def test_nobody_confirms_what_has_no_price(make_batch, priya):
    batch = make_batch("Fog,Why,,,,,")
    Charge.objects.all().delete()
    (problem,) = problems(priya, batch)
    assert problem.startswith("No video like this was rendered yet")


def test_the_end_is_that_of_the_slowest_lane(make_batch, priya):
    run = dry_run(priya, make_batch(*[f"Lake {n},Why {n},,,,," for n in range(5)]))
    assert [run.duration_s(count) for count in (1, 2, 4)] == [1200, 720, 480]


def test_the_dry_run_asks_the_database_the_same_for_many_rows(
    make_batch, priya, django_assert_max_num_queries
):
    batch = make_batch(*[f"Lake {n},Why {n},,Maren,Noir,60," for n in range(400)])
    rows = list(batch.rows.all())
    with django_assert_max_num_queries(16):
        assert len(load_dry_run(priya, batch, rows).ready) == 400
