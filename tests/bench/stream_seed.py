"""A database for the streams' figures: one team, its members' sessions, one running video.

`python -m tests.bench.stream_seed MEMBERS` migrates the database of the environment and prints, as
JSON, the members' session cookies, the Redis channel, and the message that announces the video.
"""

from __future__ import annotations

import json
import sys

import django


def main() -> None:
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    print(json.dumps(seed_team(int(sys.argv[1]))))


def seed_team(members: int) -> dict[str, object]:
    from django.conf import settings
    from django.test import Client
    from django.utils import timezone

    from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType
    from tests.factories import JobFactory, MembershipFactory, TeamFactory

    team, cookies, now = TeamFactory(), [], timezone.now()
    times = {"started_at": now, "polled_at": now, "next_poll_at": now}
    settings_of_video = {"type": "ai-visuals", "title": "Glacier", "aspect_ratio": "16:9"}
    job = JobFactory(
        account__tenant=team.tenant,
        state="running",
        remote_id="1",
        raw_status="rendering",
        draft__settings=settings_of_video,
        draft__sent_settings=settings_of_video,
        **times,
    )
    for membership in MembershipFactory.create_batch(members, team=team):
        browser = Client()
        browser.force_login(membership.user)
        cookies.append(browser.cookies[settings.SESSION_COOKIE_NAME].OutputString())
    change = ChangeEvent(team.tenant_id, EventType.JOB, job.pk).to_json()
    return {
        "cookies": [cookie.partition(";")[0] for cookie in cookies],
        "channel": EVENTS_CHANNEL,
        "change": change,
    }


if __name__ == "__main__":
    main()
