"""Rows for tests, each valid by itself; a test names only what it is about."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import factory
from django.conf import settings
from django.utils import timezone
from factory.django import DjangoModelFactory

from dashboard.models import (
    INVITATION_LIFETIME,
    Invitation,
    Membership,
    Preset,
    Role,
    Team,
    User,
    hash_invitation_key,
)
from proxyapi.credentials import token_vault
from proxyapi.models import (
    Account,
    AccountPlan,
    Charge,
    ChargeState,
    Draft,
    Job,
    JobKind,
    LedgerEntry,
    Tenant,
    Token,
)
from proxyapi.upstream.secret import Secret


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User

    name = factory.Faker("name")
    email = factory.Sequence(lambda n: f"person{n}@northlight.example")


class TenantFactory(DjangoModelFactory[Tenant]):
    class Meta:
        model = Tenant


class TeamFactory(DjangoModelFactory[Team]):
    class Meta:
        model = Team

    name = "Northlight"
    tenant = factory.SubFactory(TenantFactory)


class MembershipFactory(DjangoModelFactory[Membership]):
    class Meta:
        model = Membership

    team = factory.SubFactory(TeamFactory)
    user = factory.SubFactory(UserFactory)
    role = Role.PRODUCER


class InvitationFactory(DjangoModelFactory[Invitation]):
    """A pending invitation whose mail was sent; its link has the key `key-of-` and its address."""

    class Meta:
        model = Invitation

    team = factory.SubFactory(TeamFactory)
    address = factory.Sequence(lambda n: f"invited{n}@northlight.example")
    role = Role.PRODUCER
    invited_by = factory.SubFactory(UserFactory)
    expires_at = factory.LazyFunction(lambda: timezone.now() + INVITATION_LIFETIME)
    key_hash = factory.LazyAttribute(lambda row: hash_invitation_key(f"key-of-{row.address}"))
    mail_sent_at = factory.LazyFunction(timezone.now)


class AccountFactory(DjangoModelFactory[Account]):
    class Meta:
        model = Account

    tenant = factory.SubFactory(TenantFactory)
    environment = factory.LazyFunction(lambda: settings.VIDEO_API_BASE_URL)
    upstream_id = factory.Sequence(lambda n: 1000 + n)
    name = "Northlight Films"
    email = factory.Sequence(lambda n: f"account{n}@northlight.example")
    email_verified = True
    plan = AccountPlan.PAID
    plan_name = "Studio"
    monthly_credits = Decimal(12000)
    balance = Decimal(4318)
    balance_as_of = factory.LazyFunction(timezone.now)


def create_account_of_another_team(account: Account, **fields: Any) -> Account:
    """The row that another team has of the same upstream account."""
    same = {"environment": account.environment, "upstream_id": account.upstream_id}
    row: Account = AccountFactory(**same, balance=account.balance, **fields)
    return row


class TokenFactory(DjangoModelFactory[Token]):
    """A token whose sealed value opens: `sbx_` and the row's own id."""

    class Meta:
        model = Token

    id = factory.LazyFunction(uuid.uuid4)
    account = factory.SubFactory(AccountFactory)
    tenant = factory.SelfAttribute("account.tenant")
    owner = factory.SubFactory(UserFactory)

    @classmethod
    def _build(cls, model_class: type[Token], *args: Any, **fields: Any) -> Token:
        token = model_class(**fields)
        token_vault.encrypt_token_into(token, Secret(f"sbx_{token.pk}"))
        return token

    @classmethod
    def _create(cls, model_class: type[Token], *args: Any, **fields: Any) -> Token:
        token = cls._build(model_class, *args, **fields)
        token.save(force_insert=True)
        return token


class DraftFactory(DjangoModelFactory[Draft]):
    class Meta:
        model = Draft

    settings = factory.LazyFunction(
        lambda: {"type": "ai-visuals", "title": "How to read a glacier"}
    )


class JobFactory(DjangoModelFactory[Job]):
    """A job with a draft (`draft__settings` and so on); without one: `draft=None`."""

    class Meta:
        model = Job
        skip_postgeneration_save = True

    account = factory.SubFactory(AccountFactory)
    tenant = factory.SelfAttribute("account.tenant")
    token = factory.SubFactory(TokenFactory, account=factory.SelfAttribute("..account"))
    member = factory.SelfAttribute("token.owner")
    kind = JobKind.FACELESS
    title = "How to read a glacier"
    draft = factory.RelatedFactory(DraftFactory, factory_related_name="job")


class ChargeFactory(DjangoModelFactory[Charge]):
    class Meta:
        model = Charge

    job = factory.SubFactory(JobFactory)
    tenant = factory.SelfAttribute("job.tenant")
    account = factory.SelfAttribute("job.account")
    token = factory.SelfAttribute("job.token")
    member = factory.SelfAttribute("job.member")
    operation = "faceless.render"
    nonce = factory.LazyFunction(uuid.uuid4)
    state = ChargeState.HELD
    quote = Decimal(96)
    hold = Decimal(106)


class EntryFactory(DjangoModelFactory[LedgerEntry]):
    """The next row of an account's ledger: a debit that no charge explains, unless said."""

    class Meta:
        model = LedgerEntry

    account = factory.SubFactory(AccountFactory)
    position = factory.LazyAttribute(lambda entry: entry.account.entries.count())
    label = "Faceless video"
    content_type = "ai-visuals"
    credit_spend = "-96"
    amount = factory.LazyAttribute(lambda entry: Decimal(entry.credit_spend))
    transaction_type = factory.LazyAttribute(
        lambda entry: "Debit" if entry.amount < 0 else "Credit"
    )
    happened_at = factory.LazyFunction(timezone.now)
    booked_at = factory.LazyAttribute(lambda entry: f"{entry.happened_at:%Y-%m-%dT%H:%M:%SZ}")
    via_api = True


class PresetFactory(DjangoModelFactory[Preset]):
    class Meta:
        model = Preset

    team = factory.SubFactory(TeamFactory)
    name = factory.Sequence(lambda n: f"Sea series {n}")
    type = "ai-visuals"
    created_by = factory.SubFactory(UserFactory)
