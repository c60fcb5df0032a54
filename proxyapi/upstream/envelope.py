"""Build a request from an endpoint's row, and parse a reply from an answer; nothing is sent here.

Contract: pure. `build_request` makes requests that can go only to the row's host and path, with our
own headers only; `parse_response` turns any answer into a `Reply` or raises one of the errors.
Spec: "Endpoints" (envelope), "Authentication", "Limits".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from json import dumps
from typing import Any
from urllib.parse import quote

import httpx

from proxyapi.upstream import response_parsing
from proxyapi.upstream.endpoint import Endpoint, RequestBody
from proxyapi.upstream.error_mapping import error_from_response
from proxyapi.upstream.errors import ErrorDetails, ResponseLost, UnsendableRequest
from proxyapi.upstream.reply import Reply, ReplyCredits
from proxyapi.upstream.secret import Secret

USER_AGENT = "reelroom/0.1"
MAX_URL_BYTES = 4096  # bytes

QueryValue = str | int | bool | None
PathParams = Mapping[str, str | int]
QueryParams = Mapping[str, QueryValue | Sequence[str]]
FormFields = Mapping[str, QueryValue]
UploadFiles = Sequence[
    tuple[str, tuple[str, bytes, str]]
]  # field, (file name, content, media type)


def build_request(
    base_url: str,
    operation: Endpoint,
    token: Secret,
    *,
    path: PathParams | None = None,
    query: QueryParams | None = None,
    json: Any = None,
    data: FormFields | None = None,
    files: UploadFiles | None = None,
) -> httpx.Request:
    """The request for one call; raises `UnsendableRequest` if it does not fit the row.

    `query` and `data` omit None; `data` also omits False, because the text "false" in a form field
    can count as set (pitfall 115). Lists in `query` repeat the name.
    """
    url = _build_url(parse_base_url(base_url), operation, path or {}, query or {})
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # no decompression, so no decompression bombs
        "User-Agent": USER_AGENT,
    }
    if files or data:
        if operation.body is not RequestBody.MULTIPART or not files or json is not None:
            raise UnsendableRequest(operation, "this body does not fit the operation")
        form = {k: v for k, v in (data or {}).items() if v is not None and v is not False}
        # httpx writes "true", which a service that reads digits alone refuses.
        form = {k: "1" if v is True else v for k, v in form.items()}
        request = httpx.Request(operation.method, url, headers=headers, data=form, files=files)
    elif json is None:
        request = httpx.Request(operation.method, url, headers=headers)
    else:
        headers["Content-Type"] = "application/json"
        content = _encode_json(operation, json)
        request = httpx.Request(operation.method, url, headers=headers, content=content)
    _add_authorization(request, operation, token)
    return request


@lru_cache(maxsize=16)
def parse_base_url(base_url: str) -> httpx.URL:
    """Validate the base address: http or https, a host, a path that ends in /v2, nothing else.

    Raises `ValueError`. User info is refused because httpx makes an Authorization header of it.
    """
    try:
        url = httpx.URL(base_url.strip().rstrip("/"))
    except httpx.InvalidURL:
        raise ValueError("The address of the video service is not a URL.") from None
    if url.scheme not in {"http", "https"} or not re.fullmatch(r"[\w.:-]+", url.host):
        raise ValueError("The address of the video service starts with http:// or https://.")
    if url.userinfo or url.query or url.fragment:
        raise ValueError("The address of the video service has no user, query or fragment.")
    if not url.path.endswith("/v2"):
        raise ValueError("The address of the video service ends in /v2.")
    return url


def _build_url(
    root: httpx.URL, operation: Endpoint, path: PathParams, query: QueryParams
) -> httpx.URL:
    if set(path) != set(operation.path_parameters):
        raise UnsendableRequest(operation, f"the path needs exactly {operation.path_parameters}")
    filled = operation.path
    for name, value in path.items():
        filled = filled.replace(f"{{{name}}}", quote(_format_path_id(operation, value), safe=""))
    url = httpx.URL(f"{root}{filled}", params=_query_pairs(query))
    target, _, _ = url.raw_path.partition(b"?")
    intended = f"{root.path}{filled}".encode()
    same_origin = (url.scheme, url.netloc) == (root.scheme, root.netloc)
    if not same_origin or target != intended or len(url.raw_path) > MAX_URL_BYTES:
        raise UnsendableRequest(operation, "the address is not the one of this operation")
    return url


def _format_path_id(operation: Endpoint, value: str | int) -> str:
    text = str(value) if not isinstance(value, bool) else ""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", text):
        raise UnsendableRequest(operation, "an identifier has letters, digits, - and _ only")
    return text


def _query_pairs(query: QueryParams) -> list[tuple[str, str | int | bool]]:
    pairs: list[tuple[str, str | int | bool]] = []
    for name, value in query.items():
        if isinstance(value, str | int):
            pairs.append((name, value))
        elif value is not None:
            pairs.extend((name, item) for item in value)
    return pairs


def _add_authorization(request: httpx.Request, operation: Endpoint, token: Secret) -> None:
    # h11 quotes illegal header values in its exceptions, so it must never get one. No variable
    # holds the token, because error reports quote variables; httpx masks the header in its repr.
    if not re.fullmatch(r"[\x21-\x7e]{1,512}", token.reveal()):
        raise UnsendableRequest(operation, "the token cannot be sent in a header")
    request.headers["Authorization"] = f"Bearer {token.reveal()}"


def _encode_json(operation: Endpoint, json: Any) -> bytes:
    if operation.body is RequestBody.NONE:
        raise UnsendableRequest(operation, "this operation takes no body")
    try:
        return dumps(json, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        raise UnsendableRequest(
            operation, "the body holds a value that JSON has no form for"
        ) from None


def parse_response(
    operation: Endpoint, status: int, headers: Mapping[str, str], body: bytes
) -> Reply:
    """The reply in a 2xx answer; raises the matching error for any other answer.

    A 2xx that is unreadable, or that reports an error itself, raises `ResponseLost`: the work may
    be done, and the answer that confirms it is lost. Missing, extra and null parts of the envelope
    are accepted.
    """
    headers = {name.lower(): value for name, value in headers.items()}
    try:
        body = response_parsing.decode_body(headers, body)
        readable = True
    except response_parsing.UnreadableBody:
        body, readable = b"", False
    if not 200 <= status < 300:
        raise error_from_response(operation, status, headers, body)
    try:
        top = {} if status in {204, 205} else response_parsing.parse_json(body)
    except response_parsing.UnreadableBody:
        readable, top = False, None
    if not readable or not isinstance(top, dict) or envelope_reports_error(top):
        allowance = response_parsing.parse_rate_limit(headers)
        raise ResponseLost(operation, ErrorDetails(status=status, rate_limit=allowance))
    return _build_reply(status, headers, top)


def envelope_reports_error(top: Mapping[str, Any]) -> bool:
    """Whether the envelope of a 2xx contains an error, or another status."""
    status = top.get("status")
    is_other = type(status) is int and 400 <= status < 600
    return is_other or bool(response_parsing.as_mapping(top.get("error")).get("code"))


def _build_reply(status: int, headers: Mapping[str, str], top: Mapping[str, Any]) -> Reply:
    meta = response_parsing.as_mapping(top.get("meta"))
    money = response_parsing.as_mapping(meta.get("credits"))
    cost, remaining = (
        response_parsing.parse_credit_amount(money.get("cost")),
        response_parsing.parse_credit_amount(money.get("remaining")),
    )
    return Reply(
        data=top.get("data"),
        meta=meta,
        credits=ReplyCredits(cost, remaining) if (cost, remaining) != (None, None) else None,
        rate_limit=response_parsing.parse_rate_limit(headers),
        status=status,
        served_at=response_parsing.parse_served_at(headers),
    )
