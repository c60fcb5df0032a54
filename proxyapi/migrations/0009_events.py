import django.core.serializers.json
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proxyapi', '0008_quotes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='last_event',
            field=models.PositiveBigIntegerField(db_default=0, default=0, help_text='The last position that an event of the API was given.'),
        ),
        migrations.CreateModel(
            name='ApiEvent',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('position', models.PositiveBigIntegerField(blank=True, help_text="Among the tenant's; null until after its commit.", null=True)),
                ('event_type', models.CharField(max_length=40)),
                ('data', models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('happened_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('api_key', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.apikey')),
                ('member', models.ForeignKey(blank=True, db_index=False, help_text='Who may read it; null for the whole team.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.tenant')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('position__isnull', True)), fields=['tenant'], name='api_event_not_numbered')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'position'), name='api_event_position_once')],
            },
        ),
    ]
