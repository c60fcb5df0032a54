"""What 0002 to 0006 leave, made at once.

See proxyapi's 0001_squashed_0033_filled_months.
"""

import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('dashboard', '0002_initial'),
        ('dashboard', '0003_budgets'),
        ('dashboard', '0004_alerts'),
        ('dashboard', '0005_usual_alerts'),
        ('dashboard', '0006_audit_of_action'),
    ]

    dependencies = [
        ('dashboard', '0001_initial'),
        ('proxyapi', '0006_day_totals'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_any_case'),
        ),
        migrations.AddField(
            model_name='team',
            name='vault',
            field=models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='team', to='proxyapi.vault'),
        ),
        migrations.CreateModel(
            name='AlertRule',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alert_rules', to='dashboard.team')),
                ('watch', models.CharField(choices=[('balance', 'the balance'), ('forecast', 'the forecast'), ('budget', 'budgets'), ('ask', 'asks'), ('top_up_failed', 'failed top-ups'), ('top_up_off', 'top-up switched off'), ('unknown', 'unknown charges'), ('books', 'the ledger')], max_length=13)),
                ('threshold', models.DecimalField(decimal_places=4, default=0, max_digits=14)),
                ('active', models.BooleanField(default=True)),
                ('by_email', models.BooleanField(default=True)),
                ('by_webhook', models.BooleanField(default=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'watch', 'threshold'), name='alert_rule_once'), models.CheckConstraint(condition=models.Q(('watch__in', ['balance', 'forecast', 'budget', 'ask', 'top_up_failed', 'top_up_off', 'unknown', 'books'])), name='alert_rule_watch_known'), models.CheckConstraint(condition=models.Q(('threshold__gte', 0)), name='alert_rule_threshold_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='AlertEvent',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alert_events', to='dashboard.team')),
                ('rule', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dashboard.alertrule')),
                ('subject', models.CharField(max_length=60)),
                ('threshold', models.DecimalField(decimal_places=4, default=0, max_digits=14)),
                ('period', models.CharField(blank=True, max_length=40)),
                ('member', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('for_money', models.BooleanField(default=False)),
                ('state', models.CharField(help_text="The glyph, in the look's words.", max_length=9)),
                ('title', models.CharField(max_length=160)),
                ('text', models.CharField(blank=True, max_length=400)),
                ('url', models.CharField(blank=True, help_text='Where to look, in the portal.', max_length=200)),
                ('happened_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'indexes': [models.Index(fields=['team', '-happened_at'], name='alert_newest')],
                'constraints': [models.UniqueConstraint(fields=('rule', 'subject', 'threshold', 'period'), name='alert_once_a_period')],
            },
        ),
        migrations.CreateModel(
            name='Ask',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='asks', to='dashboard.team')),
                ('charge', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='ask', to='proxyapi.charge')),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='asks', to=settings.AUTH_USER_MODEL)),
                ('note', models.CharField(blank=True, max_length=300)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('decision', models.CharField(blank=True, choices=[('approved', 'Approved'), ('declined', 'Declined'), ('stale', 'changed meanwhile'), ('withdrawn', 'taken back')], max_length=9)),
                ('answer', models.CharField(blank=True, help_text='The sentence of the decider.', max_length=300)),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('decision', '')), fields=['team', 'asked_at'], name='ask_waiting'), models.Index(fields=['team', '-decided_at'], name='ask_decided')],
                'constraints': [models.CheckConstraint(condition=models.Q(('decision__in', ['', 'approved', 'declined', 'stale', 'withdrawn'])), name='ask_decision_known'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('decided_by__isnull', True), ('decision', '')), models.Q(models.Q(('decision', ''), _negated=True), ('decided_at__isnull', False), ('decided_by__isnull', False)), _connector='OR'), name='ask_decided_by_a_person')],
            },
        ),
        migrations.AddField(
            model_name='auditevent',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audit_events', to='dashboard.team'),
        ),
        migrations.AddIndex(
            model_name='auditevent',
            index=models.Index(fields=['team', '-happened_at'], name='dashboard_a_team_id_99e9da_idx'),
        ),
        migrations.AddIndex(
            model_name='auditevent',
            index=models.Index(fields=['team', 'action', '-happened_at'], name='audit_of_action'),
        ),
        migrations.CreateModel(
            name='Budget',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to='dashboard.team')),
                ('member', models.ForeignKey(blank=True, help_text='Null: the whole team.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to=settings.AUTH_USER_MODEL)),
                ('period', models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month')], default='month', max_length=5)),
                ('soft', models.DecimalField(blank=True, decimal_places=4, help_text='Warns from here on.', max_digits=14, null=True)),
                ('hard', models.DecimalField(blank=True, decimal_places=4, help_text='Refuses above it.', max_digits=14, null=True)),
                ('active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('member__isnull', False)), fields=('team', 'member', 'period'), name='budget_once_per_member_period'), models.UniqueConstraint(condition=models.Q(('member__isnull', True)), fields=('team', 'period'), name='budget_once_per_team_period'), models.CheckConstraint(condition=models.Q(('period__in', ['day', 'week', 'month'])), name='budget_period_known'), models.CheckConstraint(condition=models.Q(('soft__isnull', False), ('hard__isnull', False), _connector='OR'), name='budget_has_a_limit'), models.CheckConstraint(condition=models.Q(('soft__isnull', True), ('soft__gt', 0), _connector='OR'), name='budget_soft_positive'), models.CheckConstraint(condition=models.Q(('hard__isnull', True), ('hard__gt', 0), _connector='OR'), name='budget_hard_positive'), models.CheckConstraint(condition=models.Q(('soft__isnull', True), ('hard__isnull', True), ('hard__gte', models.F('soft')), _connector='OR'), name='budget_hard_not_below_soft')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('event', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='dashboard.alertevent')),
                ('channel', models.CharField(choices=[('email', 'e-mail'), ('webhook', 'Webhook')], max_length=7)),
                ('address', models.CharField(help_text='Of a person, or the host of a webhook.', max_length=254)),
                ('state', models.CharField(choices=[('due', 'Due'), ('delivered', 'Delivered'), ('parked', 'Parked')], default='due', max_length=9)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('status', models.PositiveSmallIntegerField(blank=True, help_text="The last answer's.", null=True)),
                ('said', models.CharField(blank=True, help_text='Why the last try failed.', max_length=200)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('delivered_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'due')), fields=['due_at'], name='delivery_due'), models.Index(fields=['event', 'created_at'], name='delivery_of_event')],
                'constraints': [models.UniqueConstraint(fields=('event', 'channel', 'address'), name='delivery_once_per_address'), models.CheckConstraint(condition=models.Q(('channel__in', ['email', 'webhook'])), name='delivery_channel_known'), models.CheckConstraint(condition=models.Q(('state__in', ['due', 'delivered', 'parked'])), name='delivery_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'delivered'), _negated=True), ('delivered_at__isnull', False), _connector='OR'), name='delivery_delivered_has_time')],
            },
        ),
        migrations.AddField(
            model_name='membership',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='dashboard.team'),
        ),
        migrations.AddField(
            model_name='membership',
            name='notices_read_at',
            field=models.DateTimeField(blank=True, help_text='Alerts up to then were read.', null=True),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('team', 'user'), name='membership_once'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'admin', 'treasurer', 'producer', 'viewer'])), name='membership_role_known'),
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('team', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='webhook', to='dashboard.team')),
                ('url', models.URLField(max_length=500)),
                ('sealed', models.BinaryField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
    ]
