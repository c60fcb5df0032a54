"""A page whose reader was offline while a film rendered."""

from __future__ import annotations

from django.utils import timezone
from playwright.sync_api import expect

from dashboard.models import Membership
from proxyapi.models import Job, JobState
from tests.browser.behaviours.conftest import OpenPage
from tests.dashboard.library import conftest as library

account, token, make_video_job = library.account, library.token, library.make_video_job

REASON = "Image for scene 7 could not be made."


def test_who_was_offline_sees_the_present_state_without_a_reload(
    priya: Membership, make_video_job: library.MakeVideoJob, open_page: OpenPage
) -> None:
    job = make_video_job("running")
    page = open_page(priya, f"/videos/{job.pk}/")
    page.context.set_offline(True)
    expect(page.get_by_text("You are offline.")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Renders continue.")
    Job.objects.filter(pk=job.pk).update(
        state=JobState.FAILED,
        raw_status="failed",
        failure_message=REASON,
        finished_at=timezone.now(),
    )
    page.context.set_offline(False)
    expect(page.locator(f"#job-{job.pk}-status-wide")).to_contain_text(f"“{REASON}”")
    expect(page.get_by_text("You are offline.")).to_be_hidden()
