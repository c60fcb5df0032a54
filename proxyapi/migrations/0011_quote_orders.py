from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("proxyapi", "0010_agents"),
    ]

    operations = [
        migrations.AddField(
            model_name="quote",
            name="order",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Of an agent: the digest of what it asked for; else empty.",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="quote",
            name="request",
            field=models.JSONField(
                blank=True,
                help_text="Of an agent: path and fields of the request to spend it.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="quote",
            index=models.Index(
                condition=models.Q(("order", ""), _negated=True),
                fields=["key", "order"],
                name="quote_of_order",
            ),
        ),
    ]
