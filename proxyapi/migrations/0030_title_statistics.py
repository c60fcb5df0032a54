"""Tells PostgreSQL how often titles hold a word: else it expects ten videos of any, and goes
through all titles at once where the newest hundred are found after a few thousand."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# As Django asks whether a title holds a text, whatever its case.
MAKE = "CREATE STATISTICS job_title_words ON (upper(title::text)) FROM proxyapi_job"
TAKE = "DROP STATISTICS IF EXISTS job_title_words"


def make(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(MAKE)
        editor.execute("ANALYZE proxyapi_job")


def take(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(TAKE)


class Migration(migrations.Migration):
    dependencies = [("proxyapi", "0029_counted_months")]

    operations = [migrations.RunPython(make, take)]
