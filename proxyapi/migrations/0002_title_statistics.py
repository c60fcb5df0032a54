"""Tells PostgreSQL how often words occur in titles. Without it the planner expects ten videos for any
search text, and reads all titles where the newest hundred matches are found after a few thousand."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# The expression of Django's `icontains`.
CREATE = "CREATE STATISTICS job_title_words ON (upper(title::text)) FROM proxyapi_job"
DROP = "DROP STATISTICS IF EXISTS job_title_words"


def create_statistics(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(CREATE)


def drop_statistics(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(DROP)


class Migration(migrations.Migration):
    dependencies = [("proxyapi", "0001_initial")]

    operations = [migrations.RunPython(create_statistics, drop_statistics)]
