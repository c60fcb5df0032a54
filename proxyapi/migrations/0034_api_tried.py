from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proxyapi', '0033_filled_months'),
    ]

    operations = [
        migrations.AddField(
            model_name='ledger',
            name='api_tried_at',
            field=models.DateTimeField(blank=True, help_text='When that was found; it is tried again later.', null=True),
        ),
    ]
