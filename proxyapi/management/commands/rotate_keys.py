"""`manage.py rotate_keys`: seal every token again with the first key of SEALING_KEYS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from proxyapi import door, seal
from proxyapi.models import Token

BATCH = 500


class Command(BaseCommand):
    help = (
        "Seal all that is sealed again with the first key of SEALING_KEYS. It can be stopped "
        "and started again, and the portal works meanwhile. When it ends without an error, the "
        "old keys can be taken out of SEALING_KEYS."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        old = sum(1 for _ in under_old_keys())
        if options["dry_run"]:
            self.stdout.write(f"{old} tokens need an old key.")
            return
        broken = [token for token in under_old_keys() if not self.resealed(token)]
        left = sum(1 for _ in under_old_keys())
        self.stdout.write(f"{old - left} tokens sealed again with {seal.ring().current!r}.")
        if broken:
            names = ", ".join(str(token.pk) for token in broken[:5])
            raise CommandError(
                f"{len(broken)} tokens could not be opened and stay as they are: {names}"
            )
        if left:
            raise CommandError(f"{left} tokens changed meanwhile. Run it once more.")
        self.stdout.write("No token needs an old key any more.")

    def resealed(self, token: Token) -> bool:
        """False only for a row that does not open: one that changed meanwhile is found again."""
        try:
            door.reseal(token)
        except seal.SealError:
            return False
        return True


def under_old_keys() -> Iterator[Token]:
    """Batch by batch, each read to its end before the caller writes.

    A reading that is still open while its connection writes fails on SQLite as soon as anybody
    else has written meanwhile, and no timeout helps.
    """
    current, last = seal.ring().current, UUID(int=0)
    while batch := list(Token.objects.standing().filter(pk__gt=last).order_by("pk")[:BATCH]):
        yield from (token for token in batch if seal.key_named(bytes(token.sealed)) != current)
        last = batch[-1].pk
