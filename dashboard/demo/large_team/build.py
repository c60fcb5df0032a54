"""Create the large team: people, accounts, jobs, and charges and ledger from `ledger_rows`."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import connection, models, transaction
from django.utils import timezone

from dashboard.alerts import default_rules
from dashboard.demo.large_team import ledger_rows
from dashboard.demo.large_team.ledger_rows import (
    SeedEntry,
    SeedJob,
    SeedLedger,
    generate_entries,
    generate_times,
)
from dashboard.models import Membership, Role, Team, User
from proxyapi.models import (
    Account,
    AccountPlan,
    Charge,
    ChargeState,
    Draft,
    Job,
    JobState,
    LedgerEntry,
    LedgerMirror,
    Tenant,
    Token,
    TokenState,
)
from proxyapi.rollups import price_counts
from proxyapi.rollups.daily_totals import days_in_account_zone, rebuild_days

ARCHIVE_TEAM_NAME = "Archive"
ACCOUNT_SHARES = (("Archive Studio", 14), ("Archive Shorts", 4), ("Archive Lab", 2))  # name, share
MEMBER_ROLES = (*[Role.PRODUCER] * 16, *[Role.VIEWER] * 2, Role.ADMIN, Role.TREASURER)
OPENING_CREDITS = 250_000
COPY_BATCH_SIZE = 20_000


class SeedSize(NamedTuple):
    entries: int = 1_000_000
    members: int = 500
    jobs: int = 100_000
    days: int = 730


def seed_team(size: SeedSize, owner: User, seed: int = 7) -> Team:
    """Create the team with all its data; `owner` is its first member. Takes minutes at full
    size."""
    random, now = Random(seed), timezone.now()  # noqa: S311 - made-up rows, nothing secret
    with transaction.atomic():
        team = Team.objects.create(name=ARCHIVE_TEAM_NAME, tenant=Tenant.objects.create())
        default_rules.create_default_rules(team)
        users = seed_members(team, owner, size.members, random)
        accounts = [seed_account(team.tenant, *numbered) for numbered in enumerate(ACCOUNT_SHARES)]
        tokens = seed_tokens(team.tenant, users, accounts)
    jobs = list(seed_jobs(size, tokens, accounts, random, now))
    ledger_state = SeedLedger(random, dict.fromkeys(range(len(accounts)), OPENING_CREDITS))
    times = generate_times(random, size.entries, size.days, now)
    entries = list(generate_entries(ledger_state, jobs, times, size.entries))
    seed_charges_and_entries(entries, accounts, tokens, team.tenant)
    for number, account in enumerate(accounts):
        seed_ledger(
            account,
            ledger_state.positions.get(number, 0),
            ledger_state.balances[number],
            now,
        )
        recount_seeded_days(account, [entry.at for entry in entries if entry.account == number])
    return team


def seed_members(team: Team, owner: User, count: int, random: Random) -> list[User]:
    domain = f"{team.pk.hex[:8]}.archive.example"
    unusable_password = make_password(None)
    members = [
        User(
            name=f"{random.choice(ledger_rows.GIVEN_NAMES)} "
            f"{random.choice(ledger_rows.FAMILY_NAMES)}",
            email=f"person{number}@{domain}",
            password=unusable_password,
        )
        for number in range(count - 1)
    ]
    users = [owner, *User.objects.bulk_create(members, batch_size=500)]
    Membership.objects.bulk_create(
        Membership(team=team, user=user, role=random.choice(MEMBER_ROLES) if index else Role.OWNER)
        for index, user in enumerate(users)
    )
    return users


def seed_account(tenant: Tenant, number: int, name_and_share: tuple[str, int]) -> Account:
    return Account.objects.create(
        tenant=tenant,
        environment=settings.VIDEO_API_BASE_URL,
        upstream_id=900_000_000 + number,
        name=name_and_share[0],
        email=f"account{number}@archive.example",
        email_verified=True,
        plan=AccountPlan.PAID,
        plan_name="Studio",
        monthly_credits=Decimal(20_000),
    )


def seed_tokens(tenant: Tenant, users: list[User], accounts: list[Account]) -> dict[int, Token]:
    """A removed token for each user; accounts get users by `ACCOUNT_SHARES`."""
    weighted_accounts = [
        account
        for account, (_, share) in zip(accounts, ACCOUNT_SHARES, strict=True)
        for _ in range(share)
    ]
    tokens = [
        Token(
            tenant=tenant, account=weighted_accounts[number % len(weighted_accounts)], owner=user,
            ciphertext=b"",
            fingerprint=f"archive{number:09}", last_four="none", state=TokenState.REMOVED,
        )
        for number, user in enumerate(users)
    ]  # fmt: skip
    return {token.owner_id: token for token in Token.objects.bulk_create(tokens, batch_size=500)}


def seed_jobs(
    size: SeedSize, tokens: dict[int, Token], accounts: list[Account], random: Random, now: datetime
) -> Iterator[SeedJob]:
    """Write the jobs and yield them, oldest first."""
    owners, numbers = list(tokens), {account.pk: number for number, account in enumerate(accounts)}
    # A few members create most jobs.
    weights = [1 / (1 + number % 97) for number in range(len(owners))]
    jobs, rows = [], []
    for number in range(size.jobs):
        token = tokens[random.choices(owners, weights)[0]]
        kind = random.choice(ledger_rows.ALL_KINDS)
        at = now - timedelta(days=size.days) * (1 - number / size.jobs)
        id_ = uuid.UUID(int=random.getrandbits(128), version=4)
        jobs.append(SeedJob(id_, numbers[token.account_id], token.owner_id, kind))
        state = JobState.FAILED if random.random() < 0.04 else JobState.COMPLETED
        subject = (
            random.choice(ledger_rows.TITLE_SUBJECTS),
            random.choice(ledger_rows.TITLE_PREDICATES),
        )
        title = " ".join((random.choice(ledger_rows.TITLE_OPENINGS), *subject))
        rows.append(
            (id_, token.account_id, token.pk, token.owner_id, kind, f"archive-{id_.hex}", state,
             title, at, at, at + timedelta(minutes=4))
        )  # fmt: skip
    tenant = accounts[0].tenant
    names = (
        *("id", "account_id", "token_id", "member_id", "kind", "remote_id", "state"),
        *("title", "created_at", "started_at", "finished_at"),
    )
    bulk_copy(Job(tenant=tenant, raw_status="completed"), names, rows)
    drafts = ((row[0], row[-3]) for row in rows)
    bulk_copy(Draft(settings={"type": "ai-visuals"}), ("job_id", "edited_at"), drafts)
    yield from jobs


def seed_charges_and_entries(
    seeded: list[SeedEntry], accounts: list[Account], tokens: dict[int, Token], tenant: Tenant
) -> None:
    """Write the charges and their ledger entries."""
    charges = (
        (entry.charge, accounts[entry.account].pk, tokens[entry.member_id or 0].pk, entry.member_id,
         entry.job, entry.feature.operation, entry.charge, -entry.amount, -entry.amount,
         -entry.amount, entry.at, entry.at, entry.at, entry.at)
        for entry in seeded if entry.charge and entry.amount < 0
    )  # fmt: skip
    charge_columns = (
        *("id", "account_id", "token_id", "member_id", "job_id", "operation", "nonce", "quote"),
        *("hold", "cost", "created_at", "sent_at", "settled_at", "booked_at"),
    )
    bulk_copy(
        Charge(tenant=tenant, state=ChargeState.CONFIRMED, status=200), charge_columns, charges
    )
    entries = (
        (accounts[entry.account].pk, entry.position, entry.feature.label,
         entry.feature.content_type, str(entry.amount), entry.amount, entry.kind,
         f"{entry.at:%Y-%m-%dT%H:%M:%SZ}", entry.at, entry.via_api, entry.charge,
         entry.confidence, entry.reason, entry.member_id, entry.job,
         entry.feature.operation if entry.charge else "")
        for entry in seeded
    )  # fmt: skip
    entry_columns = (
        *("account_id", "position", "label", "content_type", "credit_spend", "amount"),
        *("transaction_type", "booked_at", "happened_at", "via_api", "charge_id", "confidence"),
        *("reason", "member_id", "job_id", "operation"),
    )
    bulk_copy(LedgerEntry(), entry_columns, entries)


def seed_ledger(account: Account, rows: int, balance: int, now: datetime) -> None:
    """Write a complete ledger mirror, and the account's balance in credits."""
    account.balance, account.balance_as_of = Decimal(balance), now
    account.save(update_fields=["balance", "balance_as_of"])
    LedgerMirror.objects.create(
        account=account, high=rows, total=rows, read_at=now, api_read_at=now,
        balance_exact=Decimal(balance), checkpoint_high=rows, checkpoint_at=now,
        anchor_balance=Decimal(OPENING_CREDITS), anchor_high=0, anchor_at=now,
        checkpoint_sum=Decimal(balance - OPENING_CREDITS), rollup_time_zone=account.tenant.zone.key,
    )  # fmt: skip


def recount_seeded_days(account: Account, times: list[datetime]) -> None:
    days = sorted(days_in_account_zone(account, times))
    for start in range(0, len(days), 30):
        with transaction.atomic():
            rebuild_days(account, days[start : start + 30])
    with transaction.atomic():
        price_counts.rebuild_price_counts(account)


def bulk_copy(blank: models.Model, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows that differ from `blank` in the columns `names`; values are as on the model.

    Keys are generated if `names` does not contain them.
    """
    fields = [f for f in blank._meta.concrete_fields if f.attname in names or not is_auto_field(f)]
    index_by_name = {field.attname: at for at, field in enumerate(fields)}
    prepared = [field.get_db_prep_save(field_value(blank, field), connection) for field in fields]
    columns = [
        (index_by_name[name], fields[index_by_name[name]].get_db_prep_save) for name in names
    ]

    def lines() -> Iterator[list[Any]]:
        for row in rows:
            line = prepared.copy()
            for (at, prepare), value in zip(columns, row, strict=True):
                line[at] = prepare(value, connection)
            yield line

    copy_batches(blank._meta.db_table, [str(field.column) for field in fields], lines())


def is_auto_field(field: models.Field[Any, Any]) -> bool:
    return isinstance(field, models.AutoField)


def field_value(blank: models.Model, field: models.Field[Any, Any]) -> Any:
    return getattr(blank, field.attname)


def copy_batches(table: str, columns: Sequence[str], lines: Iterator[list[Any]]) -> None:
    quote = connection.ops.quote_name
    into = f"{quote(table)} ({', '.join(map(quote, columns))})"
    while batch := list(islice(lines, COPY_BATCH_SIZE)):
        with transaction.atomic(), connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                    for line in batch:
                        copy.write_row(line)
            else:
                marks = ", ".join(["%s"] * len(columns))
                # Only names of our own models.
                statement = f"INSERT INTO {into} VALUES ({marks})"  # noqa: S608
                cursor.executemany(statement, batch)
