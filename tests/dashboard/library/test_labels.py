"""Labels: one name once in a team, on one video or on several, and gone without its videos."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from dashboard.library import actions
from dashboard.library.queries.filters import LibraryFilters
from dashboard.library.queries.video_list import load_library_page
from dashboard.models import AuditEvent, Label, VideoLabel
from dashboard.models.label import MAX_LABELS_PER_TEAM, MAX_LABELS_PER_VIDEO
from proxyapi.models import Job
from proxyapi.refusals import Refusal

pytestmark = pytest.mark.postgresql

LABELS_URL = "/library/selection/labels/"


@pytest.fixture
def sea(priya):
    return actions.find_or_create_label(by=priya, name="Sea")


def labels_of(job):
    return [label.name for label in job.labels.all()]


def titles(reader, **query):
    page = load_library_page(reader, LibraryFilters.parse(query))
    return {card.title for _, cards in page["groups"] for card, _ in cards}


def label_videos(browser, *jobs, **data):
    return browser.post(LABELS_URL, {"video": [job.pk for job in jobs], **data})


@pytest.mark.parametrize("name", ["SEA", "  sea ", "\uff33ea"])
def test_a_name_in_another_case_is_the_same_label(name, sea, priya):
    assert actions.find_or_create_label(by=priya, name=name) == sea
    assert Label.objects.count() == 1


def test_the_database_refuses_the_same_name_twice(sea, priya, otto):
    for name in ("sea", "STRASSE"):
        Label.objects.create(team=otto.team, name=name, created_by=otto.user)
    for team, name in ((priya.team, "sEA"), (otto.team, "straße")):
        with pytest.raises(IntegrityError), transaction.atomic():
            Label.objects.create(team=team, name=name, created_by=priya.user)


def test_several_videos_get_a_new_label_in_one_press(make_video_job, priya, client_of):
    jobs = [make_video_job(title=f"Film {n}") for n in range(3)]
    browser = client_of(priya)
    answer = label_videos(browser, *jobs[:2], new="Campaign")
    assert answer.status_code == 302
    assert [labels_of(job) for job in jobs] == [["Campaign"], ["Campaign"], []]
    label = Label.objects.get()
    assert titles(priya, label=str(label.pk)) == {"Film 0", "Film 1"}
    page = browser.get("/library/").content.decode()
    assert "The labels of 2 videos were changed." in page
    assert page.count(f'href="/library/?label={label.pk}"') == 2


def test_the_form_changes_only_what_its_member_changed(make_video_job, sea, priya, client_of):
    both, one = make_video_job(title="Both"), make_video_job(title="One")
    city, bread = (actions.find_or_create_label(by=priya, name=name) for name in ("City", "Bread"))
    actions.change_labels(by=priya, job_ids=[both.pk, one.pk], add=[sea.pk])
    actions.change_labels(by=priya, job_ids=[both.pk], add=[city.pk, bread.pk])
    browser = client_of(priya)
    page = browser.get(LABELS_URL, {"video": [both.pk, one.pk]}).content.decode()
    assert f'name="was" value="{sea.pk}"' in page
    assert f'name="choice-{city.pk}"' in page
    label_videos(browser, both, one, was=[sea.pk], **{f"choice-{city.pk}": "all"})
    assert (labels_of(both), labels_of(one)) == (["Bread", "City"], ["City"])
    label_videos(
        browser, both, one, was=[city.pk], label=[city.pk], **{f"choice-{bread.pk}": "none"}
    )
    assert (labels_of(both), labels_of(one)) == (["City"], ["City"])


def test_undo_restores_each_video_as_it_was(make_video_job, sea, priya, client_of):
    had, had_not = make_video_job(), make_video_job()
    actions.change_labels(by=priya, job_ids=[had.pk], add=[sea.pk])
    browser = client_of(priya)
    label_videos(browser, had, had_not, **{f"choice-{sea.pk}": "all"})
    undo = f"/library/undo/{browser.session['library_undo']['id']}/"
    assert f'action="{undo}"' in browser.get("/library/").content.decode()
    for text in ("The change was undone.", "This was already undone"):
        assert text in browser.post(undo, follow=True).content.decode()
        assert (labels_of(had), labels_of(had_not)) == (["Sea"], [])


def test_deleting_keeps_the_videos_and_says_how_many(make_video_job, sea, priya, client_of):
    jobs = [make_video_job() for _ in range(2)]
    actions.change_labels(by=priya, job_ids=[job.pk for job in jobs], add=[sea.pk])
    browser, url = client_of(priya), f"/library/labels/{sea.pk}/removals/"
    question = browser.get(url).content.decode()
    assert "2 videos have it and are kept without it." in question
    assert "2 videos had it and are kept." in browser.post(url, follow=True).content.decode()
    assert not Label.objects.exists() and not VideoLabel.objects.exists()
    assert Job.objects.count() == 2
    assert browser.post(url).status_code == 404


def test_renaming_keeps_the_videos_and_refuses_a_taken_name(make_video_job, sea, priya, client_of):
    job = make_video_job()
    actions.change_labels(by=priya, job_ids=[job.pk], add=[sea.pk])
    city = actions.find_or_create_label(by=priya, name="City")
    browser, url = client_of(priya), f"/library/labels/{sea.pk}/name/"
    assert (
        "There is already a label “CITY”." in browser.post(url, {"name": "CITY"}).content.decode()
    )
    assert "Enter a name." in browser.post(url, {"name": "  "}).content.decode()
    assert browser.post(url, {"name": "SEA"}).status_code == 302
    assert (labels_of(job), city.name) == (["SEA"], "City")


def test_exceeded_limits_are_reported_and_change_nothing(make_video_job, priya, client_of):
    for n in range(MAX_LABELS_PER_TEAM):
        Label.objects.create(team=priya.team, name=f"Label {n:03}", created_by=priya.user)
    job, ids = make_video_job(title="Whales"), list(Label.objects.values_list("pk", flat=True))
    browser = client_of(priya)
    page = label_videos(browser, job, label=ids[: MAX_LABELS_PER_VIDEO + 1]).content.decode()
    assert "A video can have 10 labels, and “Whales” would have more." in page
    page = label_videos(browser, job, new="One more").content.decode()
    assert "A team can have 100 labels." in page
    assert 'value="One more"' in page
    assert labels_of(job) == []
    with pytest.raises(Refusal):
        actions.find_or_create_label(by=priya, name="x" * 41)


def test_what_another_team_has_does_not_exist(make_video_job, sea, priya, otto, client_of):
    theirs = Label.objects.create(team=otto.team, name="Theirs", created_by=otto.user)
    job, browser = make_video_job(), client_of(otto)
    assert browser.get(LABELS_URL, {"video": job.pk}).status_code == 404
    for path in ("labels/", "hide/", "restorations/"):
        answer = browser.post(f"/library/selection/{path}", {"video": [job.pk]})
        assert answer.status_code == 404, path
    for path in ("name", "removals"):
        assert browser.get(f"/library/labels/{sea.pk}/{path}/").status_code == 404
        assert browser.post(f"/library/labels/{sea.pk}/{path}/", {"name": "x"}).status_code == 404
    for data in ({"label": theirs.pk}, {"label": uuid4()}, {"label": "Ω"}):
        answer = label_videos(client_of(priya), job, **data)
        assert answer.status_code == 404, data
    assert labels_of(job) == []
    assert b"Sea<" not in browser.get(f"/library/?label={sea.pk}").content


def test_a_deleted_label_in_the_address_can_be_cleared(make_video_job, sea, vera, client_of):
    make_video_job(title="Whales")
    page = client_of(vera).get(f"/library/?label={uuid4()}").content.decode()
    assert "No results" in page
    assert 'aria-label="Label: clear filter"' in page


def test_a_viewer_sees_labels_and_changes_none(make_video_job, sea, vera, client_of):
    job, browser = make_video_job(), client_of(vera)
    actions_urls = [LABELS_URL, "/library/labels/new/", f"/library/labels/{sea.pk}/removals/"]
    assert {browser.post(url, {"video": job.pk}).status_code for url in actions_urls} == {403}
    page = browser.get("/library/labels/").content.decode()
    assert "Sea" in page and "Rename" not in page


def test_each_change_is_in_the_audit_log(make_video_job, priya):
    job = make_video_job()
    actions.change_labels(by=priya, job_ids=[job.pk], new_name="Sea")
    label = Label.objects.get()
    actions.rename_label(by=priya, label=label, name="Ocean")
    actions.delete_label(by=priya, label=label)
    rows = AuditEvent.objects.order_by("position").values_list("action", flat=True)
    assert list(rows) == ["label.add", "video.label", "label.change", "label.remove"]
