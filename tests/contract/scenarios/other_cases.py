"""The list of other cases after the table of preconditions."""

from __future__ import annotations

from tests.contract import staging
from tests.contract.scenarios import ScenarioTable
from tests.contract.scenarios.limits import a_capacity_that_all_share
from tests.contract.scenarios.top_up import no_payment_method
from tests.sandbox.conftest import SandboxClient

OTHER_CASES = ScenarioTable()
SOCIAL = (
    "https://www.youtube.com/watch?v=1",
    "https://youtu.be/1",
    "https://www.tiktok.com/@mira/video/1",
    "https://x.com/mira/status/1",
    "https://www.instagram.com/p/1",
    "https://m.facebook.com/1",
)
UNREACHABLE = (
    "https://nowhere.example.com/",
    "http://127.0.0.1:9/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest",
    "http://[::ffff:127.0.0.1]/",
)
UNPARSEABLE = ("no address", "ftp://example.com/a", "https://", "http://exa mple.com")


@OTHER_CASES.row("Social, unparseable or unreachable URL on either scrape endpoint: 422.")
def what_is_not_scraped(sandbox: SandboxClient) -> None:
    sandbox.set(rate_limit=1000, scraping_pool=1000)
    path = f"/v2/faceless/{sandbox.draft(type='url-based')}"
    for url in (*SOCIAL, *UNREACHABLE, *UNPARSEABLE):
        for act, more in (("scrape-images", {}), ("scrape-script", {"duration": 30})):
            answer = sandbox.post(f"{path}/{act}", {"url": url, **more})
            assert (answer.status_code, list(answer.json()["errors"])) == (422, ["url"]), url
    assert sandbox.money()["charges"] == {}


OTHER_CASES.row("Shared scraping pool exhausted: 429.")(a_capacity_that_all_share)
OTHER_CASES.row("Enabling auto top-up with no saved payment method: 422.")(no_payment_method)


@OTHER_CASES.row("Polling with video_id instead of id: 404.")
def the_wrong_identifier(sandbox: SandboxClient) -> None:
    shown = staging.response_data(sandbox.get(f"/v2/faceless/{sandbox.rendered()}"))
    assert sandbox.get(f"/v2/faceless/{shown['video_id']}").status_code == 404
