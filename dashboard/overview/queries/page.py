"""The overview of one reader, complete, or one part of it for an open page that refreshes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.overview.queries.attention import load_attention_list
from dashboard.overview.queries.credits import CreditsOverview, build_credits_overview
from dashboard.overview.queries.getting_started import GettingStarted, load_getting_started
from dashboard.overview.queries.spend import SpendOverview, build_spend_overview
from dashboard.overview.queries.sums import (
    OverviewSums,
    ReportWindow,
    load_overview_sums,
    window_for_span,
)
from dashboard.shared.ledger_agreement import accounts_with_ledger
from dashboard.shared.shell import AppShell
from dashboard.shared.team_balance import load_balance_and_counts, running_videos
from dashboard.shared.videos.cards import (
    VideoCard,
    build_video_card,
    build_video_context,
    film_still_url,
    is_portrait_ratio,
    with_card_relations,
)
from dashboard.shared.videos.labels import job_type_label, maker_text
from proxyapi.models import Account, Job, JobState
from proxyapi.models.credit_price import common_credit_price
from proxyapi.polling.duration_history import DurationHistory

MAX_RUNNING_CARDS = 6
LATEST_VIDEOS_COUNT = 4


@dataclass(frozen=True, slots=True)
class Overview:
    """A part that was not requested is None."""

    window: ReportWindow
    credits: CreditsOverview | None = None
    attention: dict[str, Any] | None = None
    spend: SpendOverview | None = None
    running: RunningRenders | None = None
    getting_started: GettingStarted | None = None


def build_overview(reader: Membership, shell: AppShell, span: str) -> Overview:
    """Build the complete page: five queries besides those of the shell, three if nothing renders;
    one more for who has first steps to do, and one if an account cannot be spent."""
    window = reader_window(reader, span)
    accounts, sums = shell.accounts, load_reader_sums(reader, shell.accounts, window)
    spendable = [account for account in accounts if not account.spending_obstacle]
    is_same = len(spendable) == len(accounts)
    balance_sums = sums if is_same else load_reader_sums(reader, spendable, window)
    return Overview(
        window=window,
        credits=build_credits_overview(accounts, shell.team_balance, shell.counts, balance_sums),
        attention=load_attention_list(reader, accounts),
        spend=build_spend_overview(sums, common_credit_price(accounts)),
        running=load_running_renders(reader.team.tenant_id, shell.counts.running),
        getting_started=load_getting_started(reader, accounts),
    )


def build_credits_part(reader: Membership, span: str) -> Overview:
    window, accounts = reader_window(reader, span), tuple(accounts_with_ledger(reader.team.tenant))
    balance, counts = load_balance_and_counts(reader.team.tenant, accounts)
    spendable = [account for account in accounts if not account.spending_obstacle]
    sums = load_reader_sums(reader, spendable, window)
    return Overview(
        window,
        credits=build_credits_overview(accounts, balance, counts, sums),
    )


def build_attention_part(reader: Membership, span: str) -> Overview:
    accounts = tuple(accounts_with_ledger(reader.team.tenant))
    return Overview(reader_window(reader, span), attention=load_attention_list(reader, accounts))


def build_spend_part(reader: Membership, span: str) -> Overview:
    window, accounts = reader_window(reader, span), tuple(accounts_with_ledger(reader.team.tenant))
    sums = load_reader_sums(reader, accounts, window)
    return Overview(window, spend=build_spend_overview(sums, common_credit_price(accounts)))


def build_running_part(reader: Membership, span: str) -> Overview:
    count = running_videos(reader.team.tenant).count()
    running = load_running_renders(reader.team.tenant_id, count)
    return Overview(reader_window(reader, span), running=running)


def build_getting_started_part(reader: Membership, span: str) -> Overview:
    accounts = tuple(accounts_with_ledger(reader.team.tenant))
    started = load_getting_started(reader, accounts)
    return Overview(reader_window(reader, span), getting_started=started)


PART_BUILDERS: Mapping[str, Callable[[Membership, str], Overview]] = {
    "credits": build_credits_part,
    "attention": build_attention_part,
    "spend": build_spend_part,
    "spenders": build_spend_part,
    "running": build_running_part,
    "getting_started": build_getting_started_part,
}


def reader_window(reader: Membership, span: str) -> ReportWindow:
    return window_for_span(span, reader.team.tenant.zone, timezone.now())


def load_reader_sums(
    reader: Membership, accounts: Sequence[Account], window: ReportWindow
) -> OverviewSums:
    return load_overview_sums(reader.team, [account.pk for account in accounts], window)


class LatestVideo(NamedTuple):
    """A finished video: its picture and title."""

    url: str
    title: str
    subtitle: str
    still_url: str
    is_portrait: bool


@dataclass(frozen=True, slots=True)
class RunningRenders:
    """`count` is the number of all running renders; `cards` are those that are shown. If nothing
    runs, `latest` are the newest finished videos."""

    cards: tuple[VideoCard, ...]
    count: int
    latest: tuple[LatestVideo, ...] = ()

    @property
    def more_count(self) -> int:
        return self.count - len(self.cards)


def load_latest_videos(tenant_id: UUID) -> tuple[LatestVideo, ...]:
    """One query."""
    jobs = Job.objects.visible().videos().filter(tenant_id=tenant_id, state=JobState.COMPLETED)
    with_film = jobs.exclude(media_url="")
    newest = with_film.select_related("member", "draft", "api_key").order_by("-finished_at", "-pk")
    return tuple(
        LatestVideo(
            url=reverse("video", args=[job.pk]),
            title=job.title,
            subtitle=f"{job_type_label(job)}, {maker_text(job)}",
            still_url=film_still_url(job.pk),
            is_portrait=is_portrait_ratio(str(job.chosen_settings.get("aspect_ratio") or "")),
        )
        for job in newest[:LATEST_VIDEOS_COUNT]
    )


def load_running_renders(tenant_id: UUID, count: int) -> RunningRenders:
    """Three queries; one if nothing runs."""
    if not count:
        return RunningRenders((), 0, load_latest_videos(tenant_id))
    jobs = Job.objects.visible().videos().filter(tenant_id=tenant_id, state=JobState.RUNNING)
    page = list(with_card_relations(jobs.order_by("started_at", "pk")[:MAX_RUNNING_CARDS]))
    duration_history, now = DurationHistory(tenant_id=tenant_id), timezone.now()
    return RunningRenders(
        tuple(
            build_video_card(build_video_context(job, duration_history, now), duration_history)
            for job in page
        ),
        count,
    )
