import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0018_agent_approval_choices'),
        ('proxyapi', '0011_quote_orders'),
    ]

    operations = [
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='dashboard.team')),
                ('member', models.ForeignKey(help_text='Who made it, and whose token and budgets it uses.', on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=80)),
                ('file_name', models.CharField(blank=True, max_length=200)),
                ('headers', models.JSONField(default=list)),
                ('columns', models.JSONField(default=list)),
                ('preset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='batches', to='dashboard.preset')),
                ('preset_name', models.CharField(blank=True, help_text='Kept to notice that the preset was deleted.', max_length=60)),
                ('label', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='dashboard.label')),
                ('state', models.CharField(choices=[('draft', 'Not started'), ('running', 'Running'), ('paused', 'Paused'), ('finished', 'Finished')], default='draft', max_length=8)),
                ('pause_reason', models.TextField(blank=True, help_text='Why it paused by itself.')),
                ('at_once', models.PositiveSmallIntegerField(default=2)),
                ('max_credits', models.DecimalField(blank=True, decimal_places=4, help_text='Never spends and holds more.', max_digits=14, null=True)),
                ('max_failures', models.PositiveSmallIntegerField(default=5)),
                ('script_price', models.DecimalField(blank=True, decimal_places=4, help_text='As it was confirmed.', max_digits=14, null=True)),
                ('approval_requested_at', models.DateTimeField(blank=True, help_text='When a second person was asked to start it.', null=True)),
                ('approved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('epoch', models.PositiveIntegerField(default=0, help_text='Number of the `DatabaseEpoch` in which it was started or resumed.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('state_since', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ('-created_at', 'pk'),
                'indexes': [models.Index(condition=models.Q(('state__in', ['running', 'paused'])), fields=['state'], name='batch_in_progress')],
                'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='batch_has_a_name'), models.CheckConstraint(condition=models.Q(('at_once__gte', 1), ('at_once__lte', 4)), name='batch_at_once_legal'), models.CheckConstraint(condition=models.Q(models.Q(('started_at', None), ('state', 'draft')), models.Q(models.Q(('state', 'draft'), _negated=True), ('max_credits__gte', 0), ('script_price__gte', 0), ('started_at__isnull', False)), _connector='OR'), name='batch_started_with_a_limit')],
            },
        ),
        migrations.CreateModel(
            name='BatchRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='dashboard.batch')),
                ('number', models.PositiveSmallIntegerField(help_text='The first line below the headers is 1.')),
                ('cells', models.JSONField(default=list)),
                ('choice', models.CharField(blank=True, choices=[('', 'Automatic'), ('make', 'Make it'), ('leave', 'Leave it out')], default='', max_length=5)),
                ('state', models.CharField(choices=[('new', 'Not started'), ('left_out', 'Left out'), ('waiting', 'Waiting'), ('begun', 'In progress'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='new', max_length=9)),
                ('job', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='batch_row', to='proxyapi.job')),
                ('limit', models.DecimalField(blank=True, decimal_places=4, help_text='Credits it may cost at most.', max_digits=14, null=True)),
                ('usual', models.DecimalField(blank=True, decimal_places=4, help_text='Credits that it usually costs.', max_digits=14, null=True)),
                ('usual_s', models.PositiveIntegerField(blank=True, help_text='Seconds that it usually takes.', null=True)),
                ('reason', models.TextField(blank=True, help_text='Why it failed.')),
                ('earlier_jobs', models.ManyToManyField(blank=True, help_text='Of attempts that failed.', related_name='earlier_batch_rows', to='proxyapi.job')),
            ],
            options={
                'ordering': ('number',),
                'constraints': [models.UniqueConstraint(fields=('batch', 'number'), name='batch_row_number_once'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['begun', 'done']), _negated=True), models.Q(('job__isnull', False), ('limit__isnull', False)), _connector='OR'), name='batch_row_begun_with_a_job'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'waiting'), _negated=True), models.Q(('job', None), ('limit__isnull', False)), _connector='OR'), name='batch_row_waits_without_a_job')],
            },
        ),
    ]
