"""The plan of the demo team's past: which video was made when, by whom, and how it went.

Contract: pure, and the same for the same first day and present. Times are those of the team's zone:
most videos on workdays, few on weekends, none after the present.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from random import Random
from typing import Any, Final

from dashboard.demo.history.titles import TITLES

PAST_DAYS = 60
SEED = 27
WORKDAY_VIDEOS = (2, 2, 3, 3, 3)
WEEKEND_VIDEOS = (0, 0, 0, 1)
FIRST_HOUR, LAST_HOUR = 8, 18
# From the first request of a video to the last look at it.
VIDEO_DURATION = timedelta(minutes=9)
LONG_SECONDS = 60  # of a script; the others are half as long
MEMBERS = ("Priya", "Luca", "Priya", "Mira", "Luca", "Priya", "Priya", "Luca")
STYLES = (("Story", "Calm"), ("Explainer", "Cheerful"), ("Documentary", "Curious"))


class VideoCourse(StrEnum):
    """How a video went after its render was ordered."""

    COMPLETED = "completed"
    FAILED = "failed"
    RETRIED = "retried"  # failed once, then completed
    ANSWER_LOST = "answer lost"  # rendered and charged; the answer did not arrive
    DECLINED = "declined"  # over budget, and not approved
    WAITING = "waiting"  # over budget, and not decided
    NOT_PRICED = "not priced"  # a draft that still lacks something


@dataclass(frozen=True, slots=True)
class PastVideo:
    number: int
    at: datetime
    member: str  # first name
    title: str
    type: str
    settings: dict[str, Any]
    seconds: int  # of the ordered script
    style: tuple[str, str]
    course: VideoCourse = VideoCourse.COMPLETED
    page: str = ""  # the address that a url-based video is made from

    @property
    def name(self) -> str:
        return f"v{self.number}"


@dataclass(frozen=True, slots=True)
class OptionPool:
    """The values to choose from, as the service offers them."""

    voices: list[int]
    genres: list[int]
    engines: list[int]
    clip_engines: list[int] = field(default_factory=list)


# A type's share of the videos; types that the studio does not offer are left out.
TYPE_WEIGHTS: Final = {"ai-visuals": 5, "b-roll": 3, "ai-clips": 2}
# Pages that the sandbox has, with the titles of their videos.
PAGES = (
    ("https://garden.example.org/stories/city-bees", "Why bees do better in the city"),
    ("https://science.example.net/ocean/reef-sounds", "Healthy reefs are loud"),
    ("https://travel.example.com/2026/night-trains-return", "The night train is back"),
    ("https://journal.example.com/coast/the-last-lighthouse-keeper", "The keeper of Skerry Point"),
)
# Which videos are made from them, counted from the newest.
PAGE_VIDEO_NUMBERS = (8, 25, 44, 70)
RATIOS = ("16:9", "16:9", "9:16", "16:9", "1:1")


def plan_videos(
    first_day: date, now: datetime, offered: OptionPool, types: Collection[str]
) -> list[PastVideo]:
    """The videos from the first day until now, oldest first."""
    dice = Random(SEED)  # noqa: S311 - made-up rows, nothing secret
    moments = list(plan_moments(first_day, now, dice))
    special = special_courses(len(moments))
    weights = {type_: weight for type_, weight in TYPE_WEIGHTS.items() if type_ in types}
    videos = [
        plan_video(number, at, dice, offered, weights, special.get(number))
        for number, at in enumerate(moments)
    ]
    if "url-based" in types:
        for (page, title), number in zip(PAGES, PAGE_VIDEO_NUMBERS, strict=True):
            if number <= len(videos):
                videos[-number] = make_page_video(videos[-number], page, title)
    return videos


def make_page_video(video: PastVideo, page: str, title: str) -> PastVideo:
    """The video as one made from a web page."""
    kept = {name: video.settings[name] for name in ("aspect_ratio", "voice_id")}
    return replace(video, type="url-based", settings=kept, page=page, title=title, seconds=30)


def plan_moments(first_day: date, now: datetime, dice: Random) -> Iterator[datetime]:
    day = first_day
    while day <= now.date():
        count = dice.choice(WORKDAY_VIDEOS if day.weekday() < 5 else WEEKEND_VIDEOS)
        slots = sorted(dice.sample(range(FIRST_HOUR * 3, LAST_HOUR * 3), count))
        for slot in slots:
            seconds = dice.randrange(600)
            at = datetime.combine(day, time(slot // 3, slot % 3 * 20), now.tzinfo)
            at += timedelta(seconds=seconds)
            if at + VIDEO_DURATION < now:
                yield at
        day += timedelta(days=1)


def special_courses(count: int) -> dict[int, VideoCourse]:
    """The videos that did not simply complete, counted from the newest."""
    return {
        count - 1: VideoCourse.WAITING,
        count - 3: VideoCourse.FAILED,
        count - 6: VideoCourse.NOT_PRICED,
        count - 14: VideoCourse.ANSWER_LOST,
        count - 23: VideoCourse.DECLINED,
        count - 31: VideoCourse.RETRIED,
        count - 52: VideoCourse.FAILED,
    }


def plan_video(
    number: int,
    at: datetime,
    dice: Random,
    offered: OptionPool,
    weights: dict[str, int],
    course: VideoCourse | None,
) -> PastVideo:
    over_budget = course in (VideoCourse.WAITING, VideoCourse.DECLINED)
    type_ = dice.choices(list(weights), list(weights.values()))[0]
    type_ = "ai-visuals" if over_budget else type_
    member = "Luca" if over_budget else MEMBERS[number % len(MEMBERS)]
    settings: dict[str, Any] = {
        "aspect_ratio": dice.choice(RATIOS),
        "voice_id": dice.choice(offered.voices),
    }
    if type_ in ("ai-visuals", "ai-clips"):
        settings["genre_id"] = dice.choice(offered.genres)
    if type_ == "ai-visuals":
        engine = dice.choice(offered.engines)
        settings["image_engine_id"] = offered.engines[-1] if over_budget else engine
    if type_ == "ai-clips":
        settings["clip_engine_id"] = dice.choice(offered.clip_engines)
    is_long = dice.random() < 0.3 and type_ != "ai-clips"
    return PastVideo(
        number=number,
        at=at,
        member=member,
        title=TITLES[number % len(TITLES)],
        type=type_,
        settings=settings,
        seconds=180 if over_budget else LONG_SECONDS if is_long else LONG_SECONDS // 2,
        style=dice.choice(STYLES),
        course=course or VideoCourse.COMPLETED,
    )
