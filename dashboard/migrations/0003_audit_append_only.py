"""Lets PostgreSQL refuse to change or to delete a row of the audit log. Kept by hand.

TRUNCATE is not refused, for the tests' sake; `manage.py verify_audit` tells of missing rows.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

CREATE = """
CREATE FUNCTION dashboard_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON dashboard_auditevent
    FOR EACH ROW EXECUTE FUNCTION dashboard_refuse_audit_change();
"""
DROP = """
DROP TRIGGER IF EXISTS audit_append_only ON dashboard_auditevent;
DROP FUNCTION IF EXISTS dashboard_refuse_audit_change();
"""


def create_trigger(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(CREATE, params=None)


def drop_trigger(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(DROP, params=None)


class Migration(migrations.Migration):
    dependencies = [("dashboard", "0002_initial")]

    operations = [migrations.RunPython(create_trigger, drop_trigger)]
