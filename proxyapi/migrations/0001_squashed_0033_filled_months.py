"""All tables as 0033 leaves them, made at once: a new database takes a quarter of the time.

A database that is on its way goes the old one, so those that this replaces stay until every
installation has passed 0033.
"""

import django.core.serializers.json
import django.db.models.deletion
import django.utils.timezone
import uuid
from decimal import Decimal
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


# As Django asks whether a title holds a text, whatever its case (0030_title_statistics).
MAKE = "CREATE STATISTICS job_title_words ON (upper(title::text)) FROM proxyapi_job"
TAKE = "DROP STATISTICS IF EXISTS job_title_words"


def make(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(MAKE)


def take(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(TAKE)


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('proxyapi', '0001_initial'),
        ('proxyapi', '0002_charges_tell_when'),
        ('proxyapi', '0003_books'),
        ('proxyapi', '0004_held'),
        ('proxyapi', '0005_top_up_changes'),
        ('proxyapi', '0006_day_totals'),
        ('proxyapi', '0007_top_up_due'),
        ('proxyapi', '0008_mirror'),
        ('proxyapi', '0009_sender'),
        ('proxyapi', '0010_weighing'),
        ('proxyapi', '0011_by_state'),
        ('proxyapi', '0012_sorts'),
        ('proxyapi', '0013_pages_indexes'),
        ('proxyapi', '0014_zones'),
        ('proxyapi', '0015_charge_pages'),
        ('proxyapi', '0016_few'),
        ('proxyapi', '0017_booked'),
        ('proxyapi', '0018_charge_states'),
        ('proxyapi', '0019_days'),
        ('proxyapi', '0020_filled_days'),
        ('proxyapi', '0021_titles'),
        ('proxyapi', '0022_charge_counts'),
        ('proxyapi', '0023_entry_indexes'),
        ('proxyapi', '0024_costs'),
        ('proxyapi', '0025_few_of_many'),
        ('proxyapi', '0026_sums_by_member'),
        ('proxyapi', '0027_day_after_member'),
        ('proxyapi', '0028_month_costs'),
        ('proxyapi', '0029_counted_months'),
        ('proxyapi', '0030_title_statistics'),
        ('proxyapi', '0031_owed_of_job'),
        ('proxyapi', '0032_month_features'),
        ('proxyapi', '0033_filled_months'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Pace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('environment', models.CharField(help_text='Base address of the upstream.', max_length=200)),
                ('kind', models.CharField(choices=[('faceless', 'Faceless'), ('clip', 'Clip'), ('storyboard', 'Storyboard'), ('clone', 'Clone'), ('character', 'Character')], max_length=10)),
                ('variety', models.CharField(blank=True, help_text='Type or engine, as sent.', max_length=60)),
                ('length', models.PositiveSmallIntegerField(default=0, help_text='Upper end of the class of asked lengths, in seconds; 0: unknown.')),
                ('seconds', models.JSONField(default=list, help_text='The newest durations, oldest first.')),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('environment', 'kind', 'variety', 'length'), name='pace_once')],
            },
        ),
        migrations.CreateModel(
            name='Vault',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('time_zone', models.CharField(default='UTC', help_text='IANA name; its days are the days of sums and caps.', max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Account',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('vault', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='accounts', to='proxyapi.vault')),
                ('environment', models.CharField(help_text='Base address of the upstream it lives on.', max_length=200)),
                ('upstream_id', models.BigIntegerField()),
                ('name', models.CharField(blank=True, max_length=200)),
                ('email', models.CharField(blank=True, max_length=254)),
                ('email_verified', models.BooleanField(default=False)),
                ('plan', models.CharField(choices=[('paid', 'Paid'), ('trial', 'Trial'), ('none', 'no plan')], default='none', max_length=8)),
                ('plan_name', models.CharField(blank=True, max_length=100)),
                ('plan_ends_at', models.DateTimeField(blank=True, null=True)),
                ('monthly_credits', models.DecimalField(decimal_places=4, default=Decimal('0'), max_digits=14)),
                ('balance', models.DecimalField(decimal_places=4, default=Decimal('0'), help_text='Credits, as of `balance_as_of`.', max_digits=14)),
                ('balance_as_of', models.DateTimeField(blank=True, null=True)),
                ('costs', models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder, help_text='The credit cost map, as last read.')),
                ('options', models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder, help_text='The faceless option groups, as read.')),
                ('options_as_of', models.DateTimeField(blank=True, null=True)),
                ('refreshed_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('vault', 'environment', 'upstream_id'), name='account_once_per_vault'), models.CheckConstraint(condition=models.Q(('plan__in', ['paid', 'trial', 'none'])), name='account_plan_known')],
            },
        ),
        migrations.CreateModel(
            name='CreditPack',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('vault', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='credit_packs', to='proxyapi.vault')),
                ('plan_id', models.BigIntegerField()),
                ('name', models.CharField(max_length=60)),
                ('credits', models.PositiveIntegerField()),
                ('price', models.DecimalField(blank=True, decimal_places=2, help_text='In money, if known.', max_digits=10, null=True)),
                ('currency', models.CharField(blank=True, help_text='ISO 4217, such as EUR.', max_length=3)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('vault', 'plan_id'), name='credit_pack_once')],
            },
        ),
        migrations.CreateModel(
            name='DayFeature',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.account')),
                ('day', models.DateField()),
                ('is_credit', models.BooleanField()),
                ('is_matched', models.BooleanField()),
                ('via_api', models.BooleanField(blank=True, null=True)),
                ('amount', models.DecimalField(decimal_places=4, help_text='Credits, signed.', max_digits=14)),
                ('entries', models.PositiveIntegerField()),
                ('operation', models.CharField(blank=True, max_length=60)),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'day', 'operation', 'is_credit', 'is_matched', 'via_api', 'amount', 'entries'], name='day_feature_whole'), models.Index(fields=['account', 'operation', 'day', 'is_credit', 'is_matched', 'via_api', 'amount', 'entries'], name='day_feature_by_name')],
            },
        ),
        migrations.CreateModel(
            name='DayFlow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.account')),
                ('day', models.DateField()),
                ('is_credit', models.BooleanField()),
                ('is_matched', models.BooleanField()),
                ('via_api', models.BooleanField(blank=True, null=True)),
                ('amount', models.DecimalField(decimal_places=4, help_text='Credits, signed.', max_digits=14)),
                ('entries', models.PositiveIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'day', 'is_credit', 'is_matched', 'via_api', 'amount', 'entries'], name='day_flow_whole')],
            },
        ),
        migrations.CreateModel(
            name='DayMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.account')),
                ('day', models.DateField()),
                ('is_credit', models.BooleanField()),
                ('is_matched', models.BooleanField()),
                ('via_api', models.BooleanField(blank=True, null=True)),
                ('amount', models.DecimalField(decimal_places=4, help_text='Credits, signed.', max_digits=14)),
                ('entries', models.PositiveIntegerField()),
                ('member', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'day', 'member', 'is_credit', 'is_matched', 'via_api', 'amount', 'entries'], name='day_member_whole'), models.Index(fields=['account', 'member', 'day', 'is_credit', 'is_matched', 'via_api', 'amount', 'entries'], name='day_member_by_member')],
            },
        ),
        migrations.CreateModel(
            name='DaySum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.account')),
                ('day', models.DateField()),
                ('is_credit', models.BooleanField()),
                ('is_matched', models.BooleanField()),
                ('via_api', models.BooleanField(blank=True, null=True)),
                ('amount', models.DecimalField(decimal_places=4, help_text='Credits, signed.', max_digits=14)),
                ('entries', models.PositiveIntegerField()),
                ('member', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('operation', models.CharField(blank=True, max_length=60)),
                ('label', models.CharField(blank=True, max_length=200)),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'day'], name='day_sum_by_day'), models.Index(fields=['account', 'member', 'day', 'operation', 'label', 'is_credit', 'is_matched', 'via_api', 'amount', 'entries'], name='day_sum_of_member')],
            },
        ),
        migrations.CreateModel(
            name='DayTotal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.account')),
                ('day', models.DateField()),
                ('is_credit', models.BooleanField()),
                ('is_matched', models.BooleanField()),
                ('via_api', models.BooleanField(blank=True, null=True)),
                ('amount', models.DecimalField(decimal_places=4, help_text='Credits, signed.', max_digits=14)),
                ('entries', models.PositiveIntegerField()),
                ('operation', models.CharField(blank=True, max_length=60)),
                ('label', models.CharField(blank=True, max_length=200)),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'day', 'operation', 'label', 'is_credit', 'is_matched', 'via_api', 'amount', 'entries'], name='day_total_by_day'), models.Index(fields=['account', 'label', 'day', 'operation', 'is_credit', 'is_matched', 'via_api', 'amount', 'entries'], name='day_total_by_label')],
            },
        ),
        migrations.CreateModel(
            name='Key',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('vault', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='keys', to='proxyapi.vault')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=60)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('last_four', models.CharField(max_length=4)),
                ('scopes', models.JSONField(default=list)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Ledger',
            fields=[
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='ledger', serialize=False, to='proxyapi.account')),
                ('low', models.PositiveIntegerField(default=0)),
                ('high', models.PositiveIntegerField(default=0)),
                ('total', models.PositiveIntegerField(default=0, help_text='Rows the service said there are, at `read_at`.')),
                ('read_at', models.DateTimeField(blank=True, help_text="When the mirror last reached the ledger's end.", null=True)),
                ('api_low', models.PositiveIntegerField(default=0)),
                ('api_high', models.PositiveIntegerField(default=0)),
                ('api_read_at', models.DateTimeField(blank=True, null=True)),
                ('anchor_balance', models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True)),
                ('anchor_high', models.PositiveIntegerField(blank=True, null=True)),
                ('anchor_at', models.DateTimeField(blank=True, null=True)),
                ('balance_exact', models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True)),
                ('weighed_high', models.PositiveIntegerField(blank=True, null=True)),
                ('weighed_at', models.DateTimeField(blank=True, null=True)),
                ('weighed_sum', models.DecimalField(blank=True, decimal_places=4, help_text='What the rows from `anchor_high` to `weighed_high` add up to.', max_digits=14, null=True)),
                ('sums_zone', models.CharField(default='UTC', help_text='The zone whose days the sums are of.', max_length=64)),
                ('problem', models.TextField(blank=True, help_text='Why mirroring stopped, for people.')),
                ('api_problem', models.TextField(blank=True, help_text='Why the view source=api cannot be laid over the rows, for people.')),
                ('patrolled', models.PositiveIntegerField(default=0, help_text='Lowest position compared in this round; 0: the next one begins.')),
                ('patrolled_at', models.DateTimeField(blank=True, null=True)),
                ('due_at', models.DateTimeField(blank=True, help_text='When to read again; null: it was never read.', null=True)),
                ('held_until', models.DateTimeField(blank=True, help_text='A worker is reading it, until then at the latest.', null=True)),
                ('troubles', models.PositiveSmallIntegerField(default=0, help_text='Times in a row that reading failed; the waits grow with it.')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('low__lte', models.F('high'))), name='ledger_segment_in_order'), models.CheckConstraint(condition=models.Q(('api_low__lte', models.F('api_high'))), name='ledger_api_segment_in_order')],
            },
        ),
        migrations.CreateModel(
            name='MonthCost',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.account')),
                ('month', models.DateField(help_text='Its first day; months are of UTC, by the time of sending.')),
                ('operation', models.CharField(max_length=60)),
                ('type', models.CharField(blank=True, help_text="The video's, where the price hangs on it.", max_length=60)),
                ('quote', models.DecimalField(decimal_places=4, help_text='0 where no price was told before.', max_digits=14)),
                ('cost', models.DecimalField(decimal_places=4, max_digits=14)),
                ('times', models.PositiveIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'month', 'operation', 'type', 'quote', 'cost', 'times'], name='month_cost_whole')],
                'constraints': [models.UniqueConstraint(fields=('account', 'month', 'operation', 'type', 'quote', 'cost'), name='month_cost_once')],
            },
        ),
        migrations.CreateModel(
            name='MonthFeature',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proxyapi.account')),
                ('month', models.DateField(help_text="Its first day; months are of the vault's time zone.")),
                ('operation', models.CharField(blank=True, max_length=60)),
                ('is_credit', models.BooleanField()),
                ('is_matched', models.BooleanField()),
                ('amount', models.DecimalField(decimal_places=4, help_text='Credits, signed.', max_digits=14)),
                ('entries', models.PositiveIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'month', 'operation', 'is_credit', 'is_matched', 'amount', 'entries'], name='month_feature_whole')],
                'constraints': [models.UniqueConstraint(fields=('account', 'month', 'operation', 'is_credit', 'is_matched'), name='month_feature_once')],
            },
        ),
        migrations.CreateModel(
            name='Rewrite',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rewrites', to='proxyapi.account')),
                ('position', models.PositiveIntegerField()),
                ('before', models.JSONField(help_text="The row as it was mirrored, in the upstream's words.")),
                ('after', models.JSONField(help_text='As it reads now; null: it is gone.', null=True)),
                ('noticed_at', models.DateTimeField(auto_now_add=True)),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('accepted_at__isnull', True)), fields=('account', 'position'), name='rewrite_once_until_accepted')],
            },
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('vault', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to='proxyapi.vault')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tokens', to='proxyapi.account')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tokens', to=settings.AUTH_USER_MODEL)),
                ('sealed', models.BinaryField(help_text='proxyapi/seal.py; bound to this row.')),
                ('fingerprint', models.CharField(max_length=16)),
                ('last_four', models.CharField(max_length=4)),
                ('state', models.CharField(choices=[('working', 'Working'), ('revoked', 'Revoked'), ('paused', 'paused (plan)'), ('removed', 'Removed')], default='working', max_length=8)),
                ('state_since', models.DateTimeField(auto_now_add=True)),
                ('checked_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'removed'), _negated=True), fields=('vault', 'fingerprint'), name='token_once_per_vault'), models.CheckConstraint(condition=models.Q(('state__in', ['working', 'revoked', 'paused', 'removed'])), name='token_state_known')],
            },
        ),
        migrations.CreateModel(
            name='Call',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('vault', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='proxyapi.vault')),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='proxyapi.token')),
                ('operation', models.CharField(max_length=60)),
                ('outcome', models.CharField(choices=[('answered', 'Answered'), ('not_sent', 'not sent'), ('refused', 'Refused'), ('unknown', 'Unknown')], max_length=8)),
                ('status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('code', models.CharField(blank=True, max_length=60)),
                ('milliseconds', models.PositiveIntegerField()),
                ('allowance_left', models.PositiveIntegerField(blank=True, null=True)),
                ('sent_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['vault', '-sent_at'], name='proxyapi_ca_vault_i_4bc8a2_idx'), models.Index(fields=['token', '-sent_at'], name='proxyapi_ca_token_i_964825_idx')],
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('vault', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='proxyapi.vault')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='proxyapi.account')),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='proxyapi.token')),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(choices=[('faceless', 'Faceless'), ('clip', 'Clip'), ('storyboard', 'Storyboard'), ('clone', 'Clone'), ('character', 'Character')], max_length=10)),
                ('remote_id', models.CharField(blank=True, help_text='Upstream id, once it has one.', max_length=64, null=True)),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('running', 'Running'), ('completed', 'Completed'), ('failed', 'Failed')], default='draft', max_length=9)),
                ('raw_status', models.CharField(blank=True, help_text="The upstream's own word, as last read.", max_length=60)),
                ('title', models.CharField(max_length=200)),
                ('wanted', models.JSONField(blank=True, default=dict)),
                ('sent', models.JSONField(blank=True, default=dict)),
                ('estimate', models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True)),
                ('estimate_as_of', models.DateTimeField(blank=True, null=True)),
                ('quote_due_at', models.DateTimeField(blank=True, help_text='Set while a price is being asked; when to ask again.', null=True)),
                ('quote_error', models.TextField(blank=True, help_text='Why there is no price now, for people.')),
                ('media_url', models.TextField(blank=True)),
                ('media_as_of', models.DateTimeField(blank=True, null=True)),
                ('seconds', models.FloatField(blank=True, help_text='Length of the finished film.', null=True)),
                ('failure_code', models.CharField(blank=True, max_length=100)),
                ('failure_message', models.TextField(blank=True)),
                ('variety', models.CharField(blank=True, help_text='As in `Pace`, of this run.', max_length=60)),
                ('length', models.PositiveSmallIntegerField(default=0, help_text='As in `Pace`, of this run.')),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('looked_at', models.DateTimeField(blank=True, null=True)),
                ('next_look_at', models.DateTimeField(blank=True, null=True)),
                ('look_error', models.TextField(blank=True, help_text='Why the last look told nothing, for people.')),
                ('look_error_since', models.DateTimeField(blank=True, null=True)),
                ('crashes', models.PositiveSmallIntegerField(default=0, help_text='Times in a row that handling it raised; parked at five.')),
                ('hidden_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('edited_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'indexes': [models.Index(fields=['vault', '-created_at', '-id', 'title'], name='job_titles'), models.Index(fields=['vault', 'state', 'finished_at'], name='job_state_since'), models.Index(condition=models.Q(('state', 'running')), fields=['next_look_at'], name='job_due')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('remote_id__isnull', False)), fields=('account', 'kind', 'remote_id'), name='job_once_per_resource'), models.CheckConstraint(condition=models.Q(('state__in', ['draft', 'running', 'completed', 'failed'])), name='job_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), _negated=True), ('next_look_at__isnull', False), _connector='OR'), name='job_running_has_next_look'), models.CheckConstraint(condition=models.Q(('state', 'draft'), ('remote_id__isnull', False), _connector='OR'), name='job_sent_has_remote_id')],
            },
        ),
        migrations.CreateModel(
            name='Charge',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('vault', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='charges', to='proxyapi.vault')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='charges', to='proxyapi.account')),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='charges', to='proxyapi.token')),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='charges', to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='charges', to='proxyapi.job')),
                ('operation', models.CharField(help_text='Name in the catalog.', max_length=60)),
                ('path', models.JSONField(blank=True, default=dict, help_text="Parameters of the path other than the job's own id.")),
                ('body', models.JSONField(blank=True, default=dict, help_text='What is sent; never a token.')),
                ('nonce', models.UUIDField()),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('held', 'Held'), ('sending', 'Sending'), ('confirmed', 'Confirmed'), ('refused', 'Refused'), ('unknown', 'Unknown'), ('matched', 'Matched'), ('written_off', 'written off')], default='draft', max_length=11)),
                ('quote', models.DecimalField(blank=True, decimal_places=4, help_text='Price shown to the person.', max_digits=14, null=True)),
                ('hold', models.DecimalField(decimal_places=4, default=0, help_text='Upper bound that is reserved.', max_digits=14)),
                ('cost', models.DecimalField(blank=True, decimal_places=4, help_text='What it really took.', max_digits=14, null=True)),
                ('before', models.JSONField(blank=True, default=dict, help_text='Evidence read before sending.')),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('code', models.CharField(blank=True, max_length=60)),
                ('reason', models.TextField(blank=True, help_text='Why it was refused or is unknown, for people.')),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('held_at', models.DateTimeField(blank=True, help_text='When its hold was reserved; a draft has none.', null=True)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('alive_at', models.DateTimeField(blank=True, help_text='When its sender last said that it waits for the answer.', null=True)),
                ('lost_at', models.DateTimeField(blank=True, help_text='When its answer was given up; what we know ends there.', null=True)),
                ('effect_at', models.DateTimeField(blank=True, help_text='When what it did upstream reached the job, once.', null=True)),
                ('booked_at', models.DateTimeField(blank=True, help_text="The ledger's time of the debit it was matched with.", null=True)),
                ('settled_at', models.DateTimeField(blank=True, null=True)),
                ('result', models.JSONField(blank=True, help_text="The answer's data, where no read shows it again.", null=True)),
                ('orphan_at', models.DateTimeField(blank=True, help_text='When the ledger proved it, and its id never came.', null=True)),
                ('refund_owed_at', models.DateTimeField(blank=True, help_text='When the service came to owe it back.', null=True)),
                ('refunded_at', models.DateTimeField(blank=True, help_text="The ledger's time of the refund.", null=True)),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('crashes', models.PositiveSmallIntegerField(default=0, help_text='Times in a row that handling it raised; parked at five.')),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'state'], name='proxyapi_ch_account_527808_idx'), models.Index(fields=['vault', 'state'], name='charge_by_state'), models.Index(fields=['vault', 'member', 'created_at'], name='charge_of_member'), models.Index(condition=models.Q(('refunded_at__isnull', True)), fields=['vault', 'created_at', 'member', 'state', 'hold', 'cost', 'refunded_at'], name='charge_counts'), models.Index(fields=['account', 'sent_at'], name='charge_sent'), models.Index(condition=models.Q(('cost__isnull', False), ('refunded_at__isnull', True)), fields=['account', 'sent_at', 'operation', 'state', 'quote', 'cost', 'job', 'refunded_at'], name='charge_paid'), models.Index(condition=models.Q(('booked_at__isnull', True)), fields=['account', 'sent_at'], name='charge_not_booked'), models.Index(condition=models.Q(('state__in', ['held', 'sending', 'unknown'])), fields=['due_at'], name='charge_due'), models.Index(condition=models.Q(('refund_owed_at__isnull', False), ('refunded_at__isnull', True)), fields=['vault', 'refund_owed_at'], name='charge_refund_owed'), models.Index(condition=models.Q(('refund_owed_at__isnull', False)), fields=['job'], name='charge_owed_of_job'), models.Index(condition=models.Q(('orphan_at__isnull', False)), fields=['vault', 'orphan_at'], name='charge_orphan')],
                'constraints': [models.UniqueConstraint(fields=('vault', 'nonce'), name='charge_once_per_nonce'), models.CheckConstraint(condition=models.Q(('state__in', ['draft', 'held', 'sending', 'confirmed', 'refused', 'unknown', 'matched', 'written_off'])), name='charge_state_known'), models.CheckConstraint(condition=models.Q(('hold__gte', 0)), name='charge_hold_not_negative'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['confirmed', 'matched']), _negated=True), ('cost__isnull', False), _connector='OR'), name='charge_spent_has_cost'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['sending', 'confirmed', 'unknown', 'matched']), _negated=True), ('sent_at__isnull', False), _connector='OR'), name='charge_sent_has_time'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'written_off'), _negated=True), ('decided_by__isnull', False), _connector='OR'), name='charge_written_off_by_a_person'), models.UniqueConstraint(condition=models.Q(('state__in', ['draft', 'held', 'sending', 'unknown'])), fields=('job', 'operation'), name='charge_one_open_per_job_operation')],
            },
        ),
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='proxyapi.account')),
                ('position', models.PositiveIntegerField(help_text='Place in the ledger read in ascending order, from 0.')),
                ('label', models.CharField(blank=True, max_length=200)),
                ('content_type', models.CharField(blank=True, max_length=100)),
                ('credit_spend', models.CharField(help_text="The upstream's own signed string.", max_length=40)),
                ('amount', models.DecimalField(decimal_places=4, help_text='Credits, signed: debits are negative.', max_digits=14)),
                ('transaction_type', models.CharField(blank=True, max_length=40)),
                ('booked_at', models.CharField(blank=True, help_text="created_at in the upstream's own words.", max_length=40)),
                ('happened_at', models.DateTimeField(help_text='The same, UTC.')),
                ('trouble', models.CharField(blank=True, help_text="What of the upstream's words cannot be read, for people.", max_length=200)),
                ('via_api', models.BooleanField(blank=True, help_text='Whether source=api shows it; null: not read yet.', null=True)),
                ('charge', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='entries', to='proxyapi.charge')),
                ('confidence', models.CharField(blank=True, choices=[('certain', 'Certain'), ('likely', 'Likely'), ('weak', 'Weak')], max_length=7)),
                ('reason', models.CharField(blank=True, help_text='Why it was matched so, for people.', max_length=200)),
                ('off', models.DecimalField(blank=True, decimal_places=4, help_text='What the charge was told to cost less what was booked, where they differ.', max_digits=14, null=True)),
                ('member', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='entries', to='proxyapi.job')),
                ('operation', models.CharField(blank=True, max_length=60)),
            ],
            options={
                'indexes': [models.Index(fields=['account', '-happened_at', '-position'], name='entry_newest'), models.Index(fields=['account', 'member', '-happened_at', '-position'], name='entry_by_member'), models.Index(fields=['account', 'operation', '-happened_at', '-position'], name='entry_by_feature'), models.Index(fields=['account', 'label', '-happened_at', '-position'], name='entry_by_label'), models.Index(condition=models.Q(('charge__isnull', True)), fields=['account', '-happened_at', '-position', 'amount'], name='entry_outside'), models.Index(condition=models.Q(('amount__gt', 0)), fields=['account', '-happened_at', '-position'], name='entry_credits'), models.Index(condition=models.Q(('via_api', False)), fields=['account', '-happened_at', '-position'], name='entry_not_by_api'), models.Index(condition=models.Q(('via_api__isnull', True)), fields=['account', 'via_api', 'position'], name='entry_view_unknown'), models.Index(condition=models.Q(('off__isnull', False)), fields=['account', 'off'], name='entry_off'), models.Index(condition=models.Q(('trouble__gt', '')), fields=['account', 'trouble'], name='entry_troubled')],
                'constraints': [models.UniqueConstraint(fields=('account', 'position'), name='entry_once_per_position'), models.CheckConstraint(condition=models.Q(models.Q(('charge__isnull', True), ('confidence', '')), ('confidence__in', ['certain', 'likely', 'weak']), _connector='OR'), name='entry_matched_has_confidence'), models.UniqueConstraint(condition=models.Q(('amount__lt', 0), ('charge__isnull', False)), fields=('charge',), name='entry_one_debit_a_charge'), models.UniqueConstraint(condition=models.Q(('amount__gt', 0), ('charge__isnull', False)), fields=('charge',), name='entry_one_refund_a_charge')],
            },
        ),
        migrations.CreateModel(
            name='TopUp',
            fields=[
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='top_up', serialize=False, to='proxyapi.account')),
                ('enabled', models.BooleanField(default=False)),
                ('type', models.CharField(blank=True, help_text="The upstream's own word.", max_length=40)),
                ('plan_id', models.BigIntegerField(blank=True, null=True)),
                ('units', models.PositiveIntegerField(blank=True, null=True)),
                ('enabled_at', models.DateTimeField(blank=True, null=True)),
                ('consecutive_failures', models.PositiveSmallIntegerField(default=0)),
                ('read_at', models.DateTimeField(blank=True, null=True)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When to read it next.')),
                ('read_error', models.TextField(blank=True, help_text='Why the last reading told nothing.')),
                ('left_enabled', models.BooleanField(blank=True, help_text='How we left it; null: it was never changed here.', null=True)),
                ('left_at', models.DateTimeField(blank=True, null=True)),
                ('found_off_at', models.DateTimeField(blank=True, help_text='When a reading found it off that was on, and nobody here had done that.', null=True)),
                ('failure_seen_at', models.DateTimeField(blank=True, help_text='When a reading first saw the newest failure: it failed then at the latest.', null=True)),
            ],
        ),
        migrations.CreateModel(
            name='TopUpChange',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='top_up_changes', to='proxyapi.account')),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='proxyapi.token')),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('nonce', models.UUIDField()),
                ('seen', models.JSONField(help_text='The preference that the form was drawn from.')),
                ('wanted', models.JSONField(help_text='The preference that was asked for.')),
                ('state', models.CharField(choices=[('asked', 'Asked'), ('sending', 'Sending'), ('unknown', 'Unknown'), ('saved', 'Saved'), ('refused', 'Refused')], default='asked', max_length=7)),
                ('reason', models.TextField(blank=True, help_text='What became of it, for people.')),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('sent_at', models.DateTimeField(blank=True, help_text='When the PUT left, or was about to.', null=True)),
                ('settled_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['account', '-asked_at'], name='top_up_change_newest')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['asked', 'sending', 'unknown'])), fields=('account',), name='top_up_change_one_at_a_time'), models.UniqueConstraint(fields=('account', 'nonce'), name='top_up_change_once'), models.CheckConstraint(condition=models.Q(('state__in', ['asked', 'sending', 'unknown', 'saved', 'refused'])), name='top_up_change_state_known')],
            },
        ),
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('charge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='proxyapi.charge')),
                ('field', models.CharField(help_text='Form field, such as samples[].', max_length=30)),
                ('name', models.CharField(max_length=100)),
                ('content_type', models.CharField(max_length=100)),
                ('content', models.BinaryField()),
            ],
        ),
        migrations.RunPython(make, take),
    ]
