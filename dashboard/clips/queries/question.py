"""The price question before a clip is generated."""

from __future__ import annotations

from decimal import Decimal

from django.urls import reverse

from dashboard.clips.queries.composer import Composer
from dashboard.clips.queries.price import build_clip_price
from dashboard.clips.readiness import is_composable
from dashboard.models import Membership
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.formatting import clock, credits
from dashboard.shared.price_question import PriceQuestion
from proxyapi.models import Job

HEADING = "Generate this clip?"
NOTICE = (
    "If the clip fails, the service refunds {price} cr by itself. Reelroom watches the ledger "
    "until they are back."
)
EXCERPT_TEMPLATE = "clips/_excerpt.html"


def build_clip_question(composer: Composer, job: Job, reader: Membership) -> PriceQuestion:
    """A refused form keeps its key: it charged nothing and cannot charge twice."""
    card = build_clip_price(composer, reader)
    price = card.price if card.state == "known" else None
    hold = price if price is not None else Decimal(0)
    quoted_at = f" at {clock(card.as_of)}" if card.as_of else ""
    return PriceQuestion(
        label="Generate",
        heading=HEADING,
        title=job.title,
        summary=clip_summary(composer),
        price=price,
        is_exact=True,
        price_note=f"Exact, quoted by the service{quoted_at}",
        credit_check=job.account.check_credits(hold),
        budget=build_budget_impact(reader, hold, job_id=job.pk),
        unmet=tuple(need.label for need in card.requirements if not need.is_met),
        notice=NOTICE.format(price=credits(hold)),
        choices_template=EXCERPT_TEMPLATE,
        url=reverse("clip-generations", args=[job.pk]),
        cancel_url=f"{reverse('clips')}?draft={job.pk}",
        sent_url="" if is_composable(job) else reverse("video", args=[job.pk]),
        hidden_fields={"edited_at": composer.edited_at},
    )


def clip_summary(composer: Composer) -> str:
    """Return a line such as `Halden Max, 8 s, 16:9, 1080p, with sound and a first frame.`"""
    if composer.model is None:
        return ""
    menus = ((menu, composer.settings.get(menu.name)) for menu in composer.model.menus)
    parts = [menu.text_of(value) for menu, value in menus if value]
    filled = [slot.slot.label.lower() for slot in composer.slots if slot.is_filled]
    return f"{', '.join((composer.model.name, *parts, *filled))}."
