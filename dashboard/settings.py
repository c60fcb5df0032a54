"""Settings, read from the environment (and from `var/env` and `var/address.env`, which `make run`
writes for this machine).

Nothing secret has a default: a process without SECRET_KEY or ENCRYPTION_KEYS does not start.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from dashboard import page_policies
from dashboard.environment import Environment

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()
VAR = Path(env.str("REELROOM_VAR", default=str(BASE_DIR / "var"))).resolve()
for file in (VAR / "env", VAR / "address.env"):
    if file.is_file():
        env.read_env(str(file))

# Core --------------------------------------------------------------------------------------------
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.secret(
    "SECRET_KEY", "`make run` creates one; in production set 50 random characters."
)
ALLOWED_HOSTS = env.text_list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
if "*" in ALLOWED_HOSTS and not DEBUG:
    raise ImproperlyConfigured(
        "ALLOWED_HOSTS must not be *, which accepts every host name. List the host names of the "
        "portal, such as reelroom.example.com."
    )
CSRF_TRUSTED_ORIGINS = env.text_list("CSRF_TRUSTED_ORIGINS", default=[])
BEHIND_TLS = env.bool("BEHIND_TLS", default=False)
ROOT_URLCONF = "dashboard.urls"
ASGI_APPLICATION = "dashboard.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
TIME_ZONE = env.time_zone("TIME_ZONE")
USE_TZ = True

INSTALLED_APPS = [
    "dashboard",
    "proxyapi",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.idp.oidc",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "django_htmx",
    "django_structlog",
    "heroicons",
    "template_partials",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "dashboard.static_files.releases.AssetsMiddleware",
    # After the static files: only pages need the policy, whose header is as large as a small file.
    "dashboard.shared.middleware.PermissionsPolicyMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.shared.setup_required.SetupRequiredMiddleware",
    "dashboard.shared.middleware.SignInRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "dashboard.shared.middleware.TeamMiddleware",
    "dashboard.shared.middleware.SessionUseMiddleware",
    "dashboard.shared.middleware.AuditOriginMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.shared.shell.shell_context",
            ],
            "builtins": [
                "django_htmx.templatetags.django_htmx",
                "heroicons.templatetags.heroicons",
                "template_partials.templatetags.partials",
                "dashboard.templatetags.reelroom",
            ],
        },
    }
]

# Templates in templates/django/forms render the fields, so that all forms have the same markup.
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

# Data --------------------------------------------------------------------------------------------
# IMMEDIATE and the long timeout are not tuning: without them concurrent read-modify-write
# transactions fail with "database is locked" (docs/decisions/0003-sqlite-options.md).
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;",
}
# Persistent connections do not work under ASGI; the pool replaces them. `timeout` is the wait for a
# connection; after `reconnect_timeout` a reconnection with growing pauses starts over. Seconds.
# Fifty people who press at once wait for the lock of one account, each with a connection: with
# fewer connections those who still wait for one would be refused. Each thread of a worker has one.
POOL = {
    "min_size": 1,
    "max_size": env.integer("DATABASE_POOL_SIZE", 64, 2, 1000),  # connections of one process
    "timeout": 10,
    "reconnect_timeout": 5,
}
DATABASES = {
    "default": env.database(
        "DATABASE_URL",
        VAR / "reelroom.sqlite3",
        {"sqlite3": SQLITE_OPTIONS, "postgresql": {"pool": POOL}},
    )
}

REDIS_URL = env.redis("REDIS_URL", VAR / "valkey.sock")
# Sent charges, kept outside the database: a restored one does not have them
# (proxyapi/charge_log.py).
CHARGE_LOG_DIR = VAR / "charge-log"
# Counts sign-in attempts only; a person waits for each access, hence the short timeouts.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 0.3, "socket_connect_timeout": 0.3},  # seconds
    }
}

# People ------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "dashboard.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("email", "name")},
    },
    {"NAME": "dashboard.account.password_words.ContextWordValidator"},
]
LOGIN_REDIRECT_URL = "/"
LOGIN_URL = "account_login"
ACCOUNT_ADAPTER = "dashboard.account.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "dashboard.account.forms.sign_in.LoginForm",
    "change_password": "dashboard.account.forms.sign_in.ChangePasswordForm",
    "reset_password": "dashboard.account.forms.sign_in.ResetPasswordForm",
    "reset_password_from_key": "dashboard.account.forms.sign_in.ResetPasswordKeyForm",
}
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
# Wrong passwords have their own limits (dashboard/account/sign_in_limits.py). allauth's `login`
# limit would let a stranger in the same network lock others out.
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": None, "reset_password": "20/m/ip,5/h/key"}
# Seconds for which a proof of who it is counts for dangerous actions of a session.
ACCOUNT_REAUTHENTICATION_TIMEOUT = 600
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ADAPTER = "dashboard.account.second_factor_adapter.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "dashboard.account.forms.second_factor.SignInCodeForm",
    "authenticate_webauthn": "dashboard.account.forms.second_factor.SignInPasskeyForm",
    "login_webauthn": "dashboard.account.forms.second_factor.PasskeyLoginForm",
}
# The views ask themselves (dashboard/shared/recent_authentication.py).
MFA_REAUTHENTICATION_REQUIRED = False
# A passkey alone confirms a dangerous action, so it has to know who holds it.
MFA_WEBAUTHN_USER_VERIFICATION = "required"
MFA_TOTP_ISSUER = "Reelroom"
MFA_TOTP_TOLERANCE = 1  # steps of 30 s before and after the current one
EMAIL_CHANGE_TIMEOUT = 24 * 3600  # seconds that the link to a new address is valid
PASSWORD_RESET_TIMEOUT = 3 * 3600  # seconds that a mailed link is valid
# The number of proxies in front; if it is wrong, everyone behind a proxy shares one sign-in limit.
ALLAUTH_TRUSTED_PROXY_COUNT = env.integer("TRUSTED_PROXIES", 0, 0, 10)

# OAuth for agents, by public clients with PKCE alone
IDP_OIDC_ADAPTER = "dashboard.agents.adapter.AgentProviderAdapter"
IDP_OIDC_AUTH_METHODS = ["none"]
IDP_OIDC_REFRESH_TOKEN_EXPIRES_IN = 90 * 24 * 3600  # seconds
# Whether programs without a document at an address of their own may register themselves.
IDP_OIDC_DCR_ENABLED = env.bool("AGENT_REGISTRATION", default=False)
IDP_OIDC_DCR_REQUIRES_INITIAL_ACCESS_TOKEN = False

# Alerts ------------------------------------------------------------------------------------------
try:
    vars().update(env.email_url_config(env.text_or_default("EMAIL_URL", "consolemail://")))
except (KeyError, ValueError, ImproperlyConfigured):
    # Without the value, which may contain a password.
    raise ImproperlyConfigured(
        "EMAIL_URL cannot be parsed. It must be smtp://, smtp+tls:// or smtp+ssl:// with "
        "user:password@host:port, or consolemail://."
    ) from None
# Without a mail server a valid link would be written to the log, which is fine on a local machine.
PASSWORD_RESET_BY_EMAIL = not BEHIND_TLS or vars()["EMAIL_BACKEND"].endswith("smtp.EmailBackend")
EMAIL_TIMEOUT = 15  # seconds; a slow mail server must not block a worker
DEFAULT_FROM_EMAIL = env.text_or_default("EMAIL_FROM", "reelroom@localhost")
if "@" not in DEFAULT_FROM_EMAIL:
    raise ImproperlyConfigured("EMAIL_FROM must be an e-mail address; alerts are sent from it.")
# The base URL of links in emails and webhooks.
if BEHIND_TLS and not env.text_or_default("PORTAL_URL", "").startswith("https://"):
    raise ImproperlyConfigured(
        "BEHIND_TLS needs PORTAL_URL for links in e-mails, such as https://reelroom.example.com."
    )
PORTAL_URL = env.text_or_default(
    "PORTAL_URL", f"http://localhost:{env.text_or_default('PORT', '8000')}"
).rstrip("/")
if not urlsplit(PORTAL_URL).hostname or urlsplit(PORTAL_URL).scheme not in ("http", "https"):
    raise ImproperlyConfigured(
        "PORTAL_URL must be the address of the portal, such as https://reelroom.example.com."
    )

# At least 35 days: a budget's alert must outlive its month, or it would be sent twice.
ALERT_RETENTION_DAYS = env.integer("ALERT_RETENTION_DAYS", 400, 35, 3650)
# For calls that do not charge; those that charge are kept, and answered reads for two hours, or
# with LOG_CALLS=all for a day.
API_CALL_RETENTION_DAYS = env.integer("API_CALL_RETENTION_DAYS", 30, 1, 3650)
LOG_CALLS = env.choice("LOG_CALLS", "failures", "all")
# The log of requests that scripts made, and the events for scripts and webhooks.
GATEWAY_LOG_DAYS = env.integer("GATEWAY_LOG_DAYS", 30, 2, 3650)
GATEWAY_EVENT_DAYS = env.integer("GATEWAY_EVENT_DAYS", 30, 7, 3650)
GATEWAY_TEAM_RULES = "dashboard.api_keys.team_rules.PortalTeamRules"
GATEWAY_SITE = "dashboard.reports.site.PortalSite"
SIGN_IN_RETENTION_DAYS = env.integer("SIGN_IN_RETENTION_DAYS", 180, 7, 3650)

# Browser -----------------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": VAR / "media"},
    },
    "staticfiles": {"BACKEND": "dashboard.static_files.bundles.BundlingStorage"},
}
SERVESTATIC_ALLOW_ALL_ORIGINS = False  # only pages of this site use the files
SERVESTATIC_KEEP_ONLY_HASHED_FILES = True  # pages link no others
CONTENT_SECURITY_POLICY = page_policies.CONTENT_SECURITY_POLICY
PERMISSIONS_POLICY = page_policies.PERMISSIONS_POLICY
PERMISSIONS_POLICY_WITH_PASSKEYS = page_policies.PERMISSIONS_POLICY_WITH_PASSKEYS
PERMISSIONS_POLICY_WITH_MICROPHONE = page_policies.PERMISSIONS_POLICY_WITH_MICROPHONE
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_ENGINE = "dashboard.account.sessions"
# Seconds. The longest that a team may choose; the session itself ends as its row says.
SESSION_COOKIE_AGE = 30 * 24 * 3600
# Of a team that chose no others (dashboard/shared/session_limits.py): from sign-in, however much it
# is used, and from the last use.
SESSION_HOURS = 24
SESSION_IDLE_MINUTES = env.integer("SESSION_IDLE_MINUTES", 480, 30, 1440)
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "dashboard.shared.error_views.csrf_failure"
if BEHIND_TLS:
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [
        r"^(healthz|readyz|metrics)$"
    ]  # requested on the local network without TLS
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-session", "__Host-csrf"

# Upstream ----------------------------------------------------------------------------------------
# No default: with the sandbox's address, an installation would send its real tokens there.
VIDEO_API_BASE_URL = env.required(
    "VIDEO_API_BASE_URL",
    "Set it to the base URL of the video API, ending in /v2. `make run` sets that of its sandbox.",
)
VIDEO_API_BASE_URL = VIDEO_API_BASE_URL.strip().rstrip("/")
_upstream = urlsplit(VIDEO_API_BASE_URL)
VIDEO_API_IS_SANDBOX = _upstream.hostname in {"127.0.0.1", "localhost", "::1", "sandbox"}
if _upstream.scheme != "https" and not VIDEO_API_IS_SANDBOX:
    raise ImproperlyConfigured(
        "VIDEO_API_BASE_URL must start with https:// (http is allowed only for the sandbox)."
    )
if not VIDEO_API_BASE_URL.endswith("/v2"):
    raise ImproperlyConfigured(
        "VIDEO_API_BASE_URL must end in /v2, because the version is part of the base URL."
    )
# What the first start with the sandbox creates: a team with sixty days behind it, a bare one, or
# nothing: the first owner is then created at /setup/.
DEMO = env.choice("DEMO", "full", "empty", "none")
# Whether a page shows the mails. They have links that set passwords, so never outside a demo.
DEMO_SHOWS_MAILS = (
    VIDEO_API_IS_SANDBOX
    and DEMO != "none"
    and not BEHIND_TLS
    and not env.text_or_default("EMAIL_URL", "")
)
if DEMO_SHOWS_MAILS:
    EMAIL_BACKEND = "dashboard.demo_mails.kept_mails.KeepingMailBackend"
# `name=METHOD`, separated by commas, for the three operations whose method the spec does not give.
VIDEO_API_METHODS: dict[str, str] = env.dict("VIDEO_API_METHODS", default={})
# `id:base64 of 32 bytes`, separated by commas; the first key encrypts
# (proxyapi/credentials/encryption.py).
ENCRYPTION_KEYS = env.required(
    "ENCRYPTION_KEYS", "`make run` creates one; .env.example explains how to create the first one."
)
# Factor on an estimate, which is approximate, to get the hold.
HOLD_MARGIN = env.number("HOLD_MARGIN", 1.1, 1, 3)

# Whether `credits.extra` of the service is part of `remaining` or spent beside it, until the ledger
# of an account shows which.
EXTRA_CREDITS = env.choice("EXTRA_CREDITS", "included", "beside")

# Seconds; drills shorten them (proxyapi/charges/timeouts.py).
CHARGE_RETRY_INTERVAL_S = env.number("CHARGE_RETRY_INTERVAL_S", 10, 0, 3600)
CHARGE_BOOKING_GRACE_S = env.number("CHARGE_BOOKING_GRACE_S", 30, 0, 3600)
# Upper limit; an operation's own timeout (proxyapi/operations/table.py) applies if it is shorter.
CHARGE_IN_FLIGHT_MAX_S = env.number("CHARGE_IN_FLIGHT_MAX_S", 3600, 0, 3600)
CHARGE_HEARTBEAT_TIMEOUT_S = env.number("CHARGE_HEARTBEAT_TIMEOUT_S", 15, 0, 3600)

# Background --------------------------------------------------------------------------------------
CELERY_BROKER_URL = (
    REDIS_URL.replace("unix://", "redis+socket://") if "unix://" in REDIS_URL else REDIS_URL
)
# Workers and beats touch this file while they run, for the health check of a container.
HEALTH_FILE = env.text_or_default("HEALTH_FILE", "")
# With it Prometheus reads /metrics; without it there is no such page.
METRICS_TOKEN = env.text_or_default("METRICS_TOKEN", "")
if METRICS_TOKEN:
    METRICS_TOKEN = env.secret("METRICS_TOKEN", "docs/operations/README.md says how it is used.")

# Logs --------------------------------------------------------------------------------------------
DEFAULT_EXCEPTION_REPORTER_FILTER = "dashboard.monitoring.error_reports.AlwaysRedactingFilter"
LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", "DEBUG", "WARNING", "ERROR", "CRITICAL")
LOG_FORMAT = env.choice("LOG_FORMAT", "plain", "json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "dashboard.monitoring.log_format.build_formatter", "style": LOG_FORMAT}
    },
    "filters": {"without_chatter": {"()": "dashboard.monitoring.log_format.NoiseFilter"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": [] if LOG_LEVEL == "DEBUG" else ["without_chatter"],
        }
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # httpx would log every URL, httpcore every header, oauthlib codes; django.request repeats the
    # request log.
    "loggers": {
        name: {"level": "WARNING"}
        for name in [
            "httpx",
            "httpcore",
            "oauthlib",
            "celery.app.trace",
            "mcp",
            "celery.beat",
            "redbeat.schedulers",
        ]
    }
    | {"django.request": {"level": "ERROR"}}
    # Scanners send arbitrary host names. They get a 400 without a log entry.
    | {"django.security.DisallowedHost": {"level": "CRITICAL"}},
}
