import dashboard.models.alert
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0012_narrow_budgets'),
        ('proxyapi', '0009_events'),
    ]

    operations = [
        migrations.AddField(
            model_name='alertevent',
            name='api_event',
            field=models.OneToOneField(blank=True, help_text='What webhooks are told of; such a row is no alert and listed nowhere.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.apievent'),
        ),
        migrations.AddField(
            model_name='alertwebhook',
            name='disabled_at',
            field=models.DateTimeField(blank=True, help_text='From then on nothing is sent, as it failed for days.', null=True),
        ),
        migrations.AddField(
            model_name='alertwebhook',
            name='event_position',
            field=models.PositiveBigIntegerField(db_default=0, default=0, help_text='Of the last event that it was given or did not want.'),
        ),
        migrations.AddField(
            model_name='alertwebhook',
            name='event_types',
            field=models.JSONField(db_default=['alert'], default=dashboard.models.alert.default_event_types, help_text="Of the API's events, and “alert” for the alerts of the rules."),
        ),
        migrations.AddField(
            model_name='alertwebhook',
            name='failing_since',
            field=models.DateTimeField(blank=True, help_text='The first failure since the last delivery.', null=True),
        ),
        migrations.AddField(
            model_name='alertwebhook',
            name='previous_until',
            field=models.DateTimeField(blank=True, help_text='Until when the secret before signs as well.', null=True),
        ),
    ]
