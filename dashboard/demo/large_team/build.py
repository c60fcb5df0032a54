"""Makes the made-up team: its people, accounts, jobs, and, through `ledger_rows.py`, its books."""

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
OPENING_CREDITS = 250_000  # credits
COPY_BATCH_SIZE = 20_000


class SeedSize(NamedTuple):
    entries: int = 1_000_000
    members: int = 500
    jobs: int = 100_000
    days: int = 730


def seed_team(size: SeedSize, owner: User, seed: int = 7) -> Team:
    """The team with everything it has; `owner` joins it first. Takes minutes at full size."""
    random, now = Random(seed), timezone.now()  # noqa: S311 - made-up rows, nothing secret
    with transaction.atomic():
        team = Team.objects.create(name=ARCHIVE_TEAM_NAME, tenant=Tenant.objects.create())
        default_rules.create_default_rules(team)
        users = seed_members(team, owner, size.members, random)
        accounts = [seed_account(team.tenant, *one) for one in enumerate(ACCOUNT_SHARES)]
        tokens = seed_tokens(team.tenant, users, accounts)
    films = list(seed_jobs(size, tokens, accounts, random, now))
    stream = SeedLedger(random, dict.fromkeys(range(len(accounts)), OPENING_CREDITS))
    times = generate_times(random, size.entries, size.days, now)
    made = list(generate_entries(stream, films, times, size.entries))
    seed_charges_and_entries(made, accounts, tokens, team.tenant)
    for number, one in enumerate(accounts):
        seed_ledger(one, stream.positions.get(number, 0), stream.balances[number], now)
        recount_seeded_days(one, [line.at for line in made if line.account == number])
    return team


def seed_members(team: Team, owner: User, count: int, random: Random) -> list[User]:
    domain = f"{team.pk.hex[:8]}.archive.example"
    nobody = make_password(None)
    made = [
        User(
            name=f"{random.choice(ledger_rows.GIVEN_NAMES)} "
            f"{random.choice(ledger_rows.FAMILY_NAMES)}",
            email=f"person{number}@{domain}",
            password=nobody,
        )
        for number in range(count - 1)
    ]
    users = [owner, *User.objects.bulk_create(made, batch_size=500)]
    Membership.objects.bulk_create(
        Membership(team=team, user=user, role=random.choice(MEMBER_ROLES) if at else Role.OWNER)
        for at, user in enumerate(users)
    )
    return users


def seed_account(tenant: Tenant, number: int, named: tuple[str, int]) -> Account:
    return Account.objects.create(
        tenant=tenant,
        environment=settings.VIDEO_API_BASE_URL,
        upstream_id=900_000_000 + number,
        name=named[0],
        email=f"account{number}@archive.example",
        email_verified=True,
        plan=AccountPlan.PAID,
        plan_name="Studio",
        monthly_credits=Decimal(20_000),
    )


def seed_tokens(tenant: Tenant, users: list[User], accounts: list[Account]) -> dict[int, Token]:
    """A removed token for each person, on an account of its share."""
    seats = [
        one for one, (_, share) in zip(accounts, ACCOUNT_SHARES, strict=True) for _ in range(share)
    ]
    tokens = [
        Token(
            tenant=tenant, account=seats[number % len(seats)], owner=user, ciphertext=b"",
            fingerprint=f"archive{number:09}", last_four="none", state=TokenState.REMOVED,
        )
        for number, user in enumerate(users)
    ]  # fmt: skip
    return {token.owner_id: token for token in Token.objects.bulk_create(tokens, batch_size=500)}


def seed_jobs(
    size: SeedSize, tokens: dict[int, Token], accounts: list[Account], random: Random, now: datetime
) -> Iterator[SeedJob]:
    """Writes the jobs, the oldest first."""
    owners, numbers = list(tokens), {one.pk: number for number, one in enumerate(accounts)}
    # A few make most of it.
    weights = [1 / (1 + number % 97) for number in range(len(owners))]
    films, rows = [], []
    for number in range(size.jobs):
        token = tokens[random.choices(owners, weights)[0]]
        kind = random.choice(ledger_rows.ALL_KINDS)
        at = now - timedelta(days=size.days) * (1 - number / size.jobs)
        id_ = uuid.UUID(int=random.getrandbits(128), version=4)
        films.append(SeedJob(id_, numbers[token.account_id], token.owner_id, kind))
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
    yield from films


def seed_charges_and_entries(
    made: list[SeedEntry], accounts: list[Account], tokens: dict[int, Token], tenant: Tenant
) -> None:
    """Write the charges and the entries that prove them."""
    charges = (
        (line.charge, accounts[line.account].pk, tokens[line.member_id or 0].pk, line.member_id,
         line.job, line.feature.operation, line.charge, -line.amount, -line.amount,
         -line.amount, line.at, line.at, line.at, line.at)
        for line in made if line.charge and line.amount < 0
    )  # fmt: skip
    of_charge = (
        *("id", "account_id", "token_id", "member_id", "job_id", "operation", "nonce", "quote"),
        *("hold", "cost", "created_at", "sent_at", "settled_at", "booked_at"),
    )
    bulk_copy(Charge(tenant=tenant, state=ChargeState.CONFIRMED, status=200), of_charge, charges)
    entries = (
        (accounts[line.account].pk, line.position, line.feature.label, line.feature.content_type,
         str(line.amount), line.amount, line.kind, f"{line.at:%Y-%m-%dT%H:%M:%SZ}", line.at,
         line.via_api, line.charge, line.confidence, line.reason, line.member_id, line.job,
         line.feature.operation if line.charge else "")
        for line in made
    )  # fmt: skip
    of_entry = (
        *("account_id", "position", "label", "content_type", "credit_spend", "amount"),
        *("transaction_type", "booked_at", "happened_at", "via_api", "charge_id", "confidence"),
        *("reason", "member_id", "job_id", "operation"),
    )
    bulk_copy(LedgerEntry(), of_entry, entries)


def seed_ledger(account: Account, rows: int, balance: int, now: datetime) -> None:
    """Say that the ledger was read to its end, and what the account has left."""
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
    """Insert rows that differ from `blank` in the columns `names`; values as on the model.

    The keys count on by themselves where `names` has none.
    """
    fields = [f for f in blank._meta.concrete_fields if f.attname in names or not is_auto_field(f)]
    place = {field.attname: at for at, field in enumerate(fields)}
    prepared = [field.get_db_prep_save(field_value(blank, field), connection) for field in fields]
    wanted = [(place[name], fields[place[name]].get_db_prep_save) for name in names]

    def lines() -> Iterator[list[Any]]:
        for row in rows:
            line = prepared.copy()
            for (at, prepare), value in zip(wanted, row, strict=True):
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
                # Names of our own models alone.
                statement = f"INSERT INTO {into} VALUES ({marks})"  # noqa: S608
                cursor.executemany(statement, batch)
