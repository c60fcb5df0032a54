"""The error tree of the upstream API (spec, "Errors").

    UpstreamError
    ├── NotSent                     it provably did not start
    │   ├── ConnectionRefused
    │   ├── NameUnknown
    │   ├── TlsFailed
    │   ├── ConnectTimedOut
    │   ├── PoolTimedOut
    │   └── Unsendable              we made no request of it: a bad id, a value no JSON holds
    ├── RateLimited                 429: it did not start either
    ├── Refused                     the service said no; nothing was done or charged
    │   ├── WrongArguments          400
    │   ├── Unauthorized            401
    │   ├── TurnedAway              401 without the code: by a gateway on the way
    │   ├── InsufficientCredits     402
    │   ├── Forbidden               403
    │   ├── SubscriptionRequired    403
    │   ├── PaidSubscriptionRequired 403
    │   ├── EmailNotVerified        403, and 409 in the account area
    │   ├── FeatureNotAllowed       403
    │   ├── PlanLimitReached        403
    │   ├── Busy                    403, the video is rendering or syncing
    │   ├── Precondition            403
    │   │   └── ScriptMissing, VoiceMissing, VoiceUnknown
    │   ├── NotFound                404, also another account's
    │   ├── MethodNotAllowed        405
    │   ├── Conflict                409
    │   └── Invalid                 422
    │       └── GenreMissing, AssetsMissing, PaymentMethodMissing
    └── OutcomeUnknown              it may have been done and charged
        ├── ServerError             5xx
        ├── AnswerLost              timed out, cut off, or not to be read
        └── Unexpected              a status that proves nothing
            └── Redirected          3xx, never followed

`outcome` says what is known about the work and the money, `retry_safe` whether the same call
may be sent again by a program, `user_message` what to tell a person. The text of an exception
is made of our own words, the operation's name, the code and the status: never of the upstream's
words, never of the transport's, which can quote the token.
"""

from __future__ import annotations

from proxyapi.upstream.errors.base import ErrorDetails, ErrorOutcome, UpstreamError
from proxyapi.upstream.errors.refused import (
    AssetsMissing,
    BadRequest,
    Conflict,
    EmailNotVerified,
    FeatureNotAllowed,
    Forbidden,
    GenreMissing,
    InsufficientCredits,
    MethodNotAllowed,
    NotFound,
    PaidSubscriptionRequired,
    PaymentMethodMissing,
    PlanLimitReached,
    PreconditionFailed,
    ProxyUnauthorized,
    Refused,
    ResourceBusy,
    ScriptMissing,
    SubscriptionRequired,
    Unauthorized,
    ValidationFailed,
    VoiceMissing,
    VoiceNotFound,
)
from proxyapi.upstream.errors.unknown import (
    OutcomeUnknown,
    ResponseLost,
    ServerError,
    UnexpectedRedirect,
    UnexpectedStatus,
)
from proxyapi.upstream.errors.unsent import (
    ConnectionRefused,
    ConnectTimedOut,
    DnsFailed,
    NotSent,
    PoolTimedOut,
    RateLimited,
    TlsFailed,
    UnsendableRequest,
)

__all__ = [
    "AssetsMissing",
    "BadRequest",
    "Conflict",
    "ConnectTimedOut",
    "ConnectionRefused",
    "DnsFailed",
    "EmailNotVerified",
    "ErrorDetails",
    "ErrorOutcome",
    "FeatureNotAllowed",
    "Forbidden",
    "GenreMissing",
    "InsufficientCredits",
    "MethodNotAllowed",
    "NotFound",
    "NotSent",
    "OutcomeUnknown",
    "PaidSubscriptionRequired",
    "PaymentMethodMissing",
    "PlanLimitReached",
    "PoolTimedOut",
    "PreconditionFailed",
    "ProxyUnauthorized",
    "RateLimited",
    "Refused",
    "ResourceBusy",
    "ResponseLost",
    "ScriptMissing",
    "ServerError",
    "SubscriptionRequired",
    "TlsFailed",
    "Unauthorized",
    "UnexpectedRedirect",
    "UnexpectedStatus",
    "UnsendableRequest",
    "UpstreamError",
    "ValidationFailed",
    "VoiceMissing",
    "VoiceNotFound",
]
