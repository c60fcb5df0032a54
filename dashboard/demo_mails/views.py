"""The e-mails of a demo without a mail server. Elsewhere these pages do not exist."""

from __future__ import annotations

from csp.constants import NONE, SELF, UNSAFE_INLINE
from csp.decorators import csp, csp_update
from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe
from redis import RedisError

from dashboard.demo_mails.kept_mails import MAX_KEPT_MAILS, KeptMail, load_mails_for
from dashboard.shared.http import TeamRequest

# A link in a mail opens in the window, not in the frame: pages of the portal refuse frames.
HTML_SANDBOX = "allow-top-navigation-by-user-activation"


@require_safe
@cache_control(no_store=True, private=True)
def list_mails(request: TeamRequest) -> HttpResponse:
    require_demo_mails()
    try:
        mails, is_redis_away = load_mails_for(request.user), False
    except RedisError:
        mails, is_redis_away = [], True
    context = {"mails": mails, "is_redis_away": is_redis_away, "max_mails": MAX_KEPT_MAILS}
    return render(request, "demo_mails/list.html", context)


@require_safe
@cache_control(no_store=True, private=True)
@csp_update({"frame-src": [SELF]})  # type: ignore[arg-type]
def show_mail(request: TeamRequest, mail_id: str) -> HttpResponse:
    context = {"mail": fetch_mail(request, mail_id), "html_sandbox": HTML_SANDBOX}
    return render(request, "demo_mails/mail.html", context)


@require_safe
@cache_control(no_store=True, private=True)
@xframe_options_sameorigin
@csp(  # type: ignore[arg-type]
    {
        "default-src": [NONE],
        "style-src": [UNSAFE_INLINE],
        "frame-ancestors": [SELF],
        "sandbox": [HTML_SANDBOX],
    }
)
def show_html(request: TeamRequest, mail_id: str) -> HttpResponse:
    """The HTML part, for the frame: without scripts, forms and requests."""
    html = fetch_mail(request, mail_id).html
    return HttpResponse(html.replace("<head>", '<head><base target="_top">', 1))


def fetch_mail(request: TeamRequest, mail_id: str) -> KeptMail:
    require_demo_mails()
    try:
        return next(mail for mail in load_mails_for(request.user) if mail.id == mail_id)
    except (StopIteration, RedisError):
        raise Http404("This e-mail is not kept any more.") from None


def require_demo_mails() -> None:
    """Raise `Http404` outside of a demo without a mail server."""
    if not settings.DEMO_SHOWS_MAILS:
        raise Http404("Only a demo without a mail server shows its e-mails.")
