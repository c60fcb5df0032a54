"""A search that charges, and the list of what an account has found, which is free."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from proxyapi.sandbox import billing
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.errors import NotFound
from proxyapi.sandbox.ideas import generation
from proxyapi.sandbox.records import Charge
from proxyapi.sandbox.resource_rows import Search
from proxyapi.sandbox.world import World


class SearchResult(NamedTuple):
    ideas: list[dict[str, Any]]
    charge: Charge | None  # None for a fruitless search


def discover_ideas(call: ApiCall, keyword: str, network: str) -> SearchResult:
    """Charge a fruitful search, made before or not; raises 402, or 404 as the setting says."""
    world = call.world
    use = FeatureUse(
        "idea_discovery",
        billing.get_price(world, "idea_discovery"),
        f"ideas:{network}:{generation.normalize_keyword(keyword)}",
        "Idea discovery",
        "ideas",
    )
    billing.require_credits(call, use)
    known = next(
        (
            it
            for it in _account_searches(call)
            if it.network == network and _same(it.keyword, keyword)
        ),
        None,
    )
    if known is None or not world.settings.cached_search_is_quick:
        call.delay_answer(world.settings.discovery_seconds)
    if _fruitless(world, keyword):
        if world.settings.fruitless_search == "not_found":
            raise NotFound("No ideas were found for this keyword.")
        return SearchResult([], None)
    charge = billing.charge_credits(call, use)
    search = known or _store_search(call, keyword, network)
    return SearchResult([_show(search, it) for it in _ideas(search)], charge)


def list_found_ideas(
    call: ApiCall, keyword: str | None, network: str | None, sort: str
) -> list[dict[str, Any]]:
    """The account's ideas of finished searches, sorted."""
    rows = [
        _show(search, numbered)
        for search in _account_searches(call)
        if search.found_at <= call.world.now
        and (keyword is None or _same(search.keyword, keyword))
        and (network is None or search.network == network)
        for numbered in _ideas(search)
    ]
    field = sort.removeprefix("-")
    rows.sort(key=lambda row: row[field], reverse=sort.startswith("-"))
    return rows


def _account_searches(call: ApiCall) -> Iterator[Search]:
    return (it for it in call.world.searches if it.account_id == call.account.id)


def _same(one: str, other: str) -> bool:
    return generation.normalize_keyword(one) == generation.normalize_keyword(other)


def _fruitless(world: World, keyword: str) -> bool:
    named = any(_same(keyword, it) for it in world.settings.fruitless_keywords)
    return named or generation.is_gibberish(keyword)


def _store_search(call: ApiCall, keyword: str, network: str) -> Search:
    world = call.world
    # A little before the answer is sent, so that whoever has it also finds it in the list.
    waits = max(0.0, call.delay_seconds - 0.05)
    return world.searches.put(
        Search(
            id=world.number("search"),
            account_id=call.account.id,
            keyword=" ".join(keyword.split()),
            network=network,
            idea_ids=[
                world.plausible_id("idea", 610_000) for _ in range(world.settings.ideas_per_search)
            ],
            found_at=world.now + waits,
        )
    )


def _ideas(search: Search) -> Iterator[tuple[int, generation.Idea]]:
    found = generation.find_ideas(search.keyword, search.network, len(search.idea_ids))
    return zip(search.idea_ids, found, strict=False)


def _show(search: Search, numbered: tuple[int, generation.Idea]) -> dict[str, Any]:
    number, idea = numbered
    return {
        "id": number,
        "keyword": search.keyword,
        "network": search.network,
        **idea._asdict(),
        "created_at": format_iso(search.found_at),
    }
