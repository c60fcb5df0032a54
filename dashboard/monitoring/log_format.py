"""Log lines: short ones for people, JSON for machines.

The last step redacts everything that looks like a token, whichever library logged it.
"""

from __future__ import annotations

import logging
import re
import sys

import structlog
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http.multipartparser import MultiPartParserError
from structlog.typing import EventDict, Processor, WrappedLogger

from dashboard.monitoring.outages import is_outage

SECRET_SHAPES = re.compile(
    # The key of an invitation is in the path of one request. The mail with its link is not
    # redacted: without a mail server the log is where it is read. An OpenID provider sends its
    # code in the address of another request.
    r"(?i)(bearer\s+|\b(?:get|head|post) /(?:join/(?=[\w\-]{30})|accounts/oidc/callback/\?))\S+"
    r"|\b(sbx|rr|whsec)_[A-Za-z0-9_\-+/=]{8,}"
)
# Dropped below DEBUG: the start event of every request, and health checks.
PROBE_PATHS = ("/healthz", "/readyz", "/metrics")
CLIENT_ERRORS = (BadRequest, MultiPartParserError, SuspiciousOperation)
NOISY_EVENTS = {"request_started", "streaming_started", "streaming_finished", "streaming_cancelled"}


def redact_event(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {
        key: redact_text(value) if isinstance(value, str) else value for key, value in event.items()
    }


def redact_text(text: str) -> str:
    return SECRET_SHAPES.sub(lambda match: f"{match.group(1) or ''}[redacted]", text)


def shorten_outage(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Log an outage as one line: the place of the failed query explains nothing."""
    error = event_error(event)
    if not (isinstance(error, BaseException) and is_outage(error)):
        return event
    return {
        **event,
        "exc_info": None,
        "event": f"{event.get('event')} (unavailable: {first_line(error)})",
    }


def drop_client_traceback(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Log an unreadable request as one line: it is not an error of the portal."""
    error = event_error(event)
    return {**event, "exc_info": None} if isinstance(error, CLIENT_ERRORS) else event


def event_error(event: EventDict) -> object:
    """The error of a log event, in whichever form it was passed."""
    error = event.get("exc_info")
    error = sys.exc_info() if error is True else error
    return error[1] if isinstance(error, tuple) else error


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def format_plain(_: WrappedLogger, __: str, event: EventDict) -> str:
    """`GET /library/ 200`, or the level and the event followed by its traceback."""
    if event.get("event") == "request_finished":
        return redact_text(f"{event.get('request')} {event.get('code')}")
    level = str(event.get("level", "info"))
    line = f"{event.get('event')}" if level == "info" else f"{level}: {event.get('event')}"
    trace = event.get("exception")
    return redact_text(f"{line}\n{trace}" if trace else line)


class NoiseFilter(logging.Filter):
    """Drops events without information; it is not installed at DEBUG."""

    def filter(self, record: logging.LogRecord) -> bool:
        fields = record.msg if isinstance(record.msg, dict) else vars(record)
        request = fields.get("request") or ""
        path = request if isinstance(request, str) else getattr(request, "path", "")
        return fields.get("event") not in NOISY_EVENTS and not path.endswith(PROBE_PATHS)


def build_formatter(style: str) -> logging.Formatter:
    """`style` is `json` or `plain`. Redaction runs after every step that adds to a line."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        shorten_outage,
        drop_client_traceback,
        structlog.processors.format_exc_info,
    ]
    last: Processor = structlog.processors.JSONRenderer() if style == "json" else format_plain
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact_event, last],
    )


def configure_structlog() -> None:
    """Send structlog's events through the standard library's logging and so through the same
    redaction."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            shorten_outage,
            drop_client_traceback,
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
