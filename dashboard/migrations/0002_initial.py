import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from proxyapi.migration_operations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('dashboard', '0001_initial'),
        ('proxyapi', '0001_initial'),
    ]

    operations = [CreateModels([
        migrations.CreateModel(
            name='AuditChainCheck',
            fields=[
                ('team_id', models.UUIDField(primary_key=True, serialize=False)),
                ('requested_at', models.DateTimeField(blank=True, help_text='Set while a verification waits or runs.', null=True)),
                ('checked_at', models.DateTimeField(blank=True, null=True)),
                ('verified_at', models.DateTimeField(blank=True, help_text='When the whole chain was last found intact.', null=True)),
                ('verified_position', models.PositiveBigIntegerField(default=0)),
                ('verified_hash', models.CharField(blank=True, max_length=64)),
                ('broken_position', models.PositiveBigIntegerField(blank=True, null=True)),
                ('problem', models.CharField(blank=True, max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name='AuditChainHead',
            fields=[
                ('team_id', models.UUIDField(primary_key=True, serialize=False)),
                ('position', models.PositiveBigIntegerField(default=0)),
                ('row_hash', models.CharField(blank=True, max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team_id', models.UUIDField()),
                ('team_name', models.CharField(max_length=60)),
                ('position', models.PositiveBigIntegerField(help_text="Position in the team's hash chain, from 1.")),
                ('happened_at', models.DateTimeField()),
                ('actor_kind', models.CharField(choices=[('person', 'Person'), ('api_key', 'API key'), ('system', 'System'), ('unknown', 'not signed in')], max_length=7)),
                ('actor_id', models.CharField(blank=True, max_length=40)),
                ('actor_name', models.CharField(max_length=254)),
                ('source', models.CharField(choices=[('portal', 'Portal'), ('command', 'Command line'), ('system', 'Reelroom')], default='system', max_length=7)),
                ('client_ip', models.CharField(blank=True, max_length=45)),
                ('action', models.CharField(choices=[('access.refuse', 'Access Refuse'), ('account.archive', 'Account Archive'), ('account.restore', 'Account Restore'), ('alert_rule.add', 'Alert Rule Add'), ('alert_rule.change', 'Alert Rule Change'), ('alert.test', 'Alert Test'), ('audit.export', 'Audit Export'), ('audit.verify', 'Audit Verify'), ('approval_request.comment', 'Approval Request Comment'), ('approval_request.create', 'Approval Request Create'), ('approval_request.approve', 'Approval Request Approve'), ('approval_request.decline', 'Approval Request Decline'), ('approval_request.expire', 'Approval Request Expire'), ('approval_request.withdraw', 'Approval Request Withdraw'), ('brand_kit.change', 'Brand Kit Change'), ('budget.add', 'Budget Add'), ('budget.change', 'Budget Change'), ('budget.end', 'Budget End'), ('character.create', 'Character Create'), ('character.hide', 'Character Hide'), ('character.photo', 'Character Photo'), ('character.save', 'Character Save'), ('character.unhide', 'Character Unhide'), ('charge.create', 'Charge Create'), ('charge.match', 'Charge Match'), ('charge.recheck', 'Charge Recheck'), ('charge.unmatch', 'Charge Unmatch'), ('charge.write_off', 'Charge Write Off'), ('charges.resume', 'Charges Resume'), ('charges.stop', 'Charges Stop'), ('confirmation.refuse', 'Confirmation Refuse'), ('credit_pack.add', 'Credit Pack Add'), ('credit_pack.remove', 'Credit Pack Remove'), ('draft.delete', 'Draft Delete'), ('draft.restore', 'Draft Restore'), ('draft.save', 'Draft Save'), ('draft.start', 'Draft Start'), ('email.change', 'Email Change'), ('email.request', 'Email Request'), ('email.withdraw', 'Email Withdraw'), ('invitation.accept', 'Invitation Accept'), ('invitation.create', 'Invitation Create'), ('invitation.resend', 'Invitation Resend'), ('invitation.restore', 'Invitation Restore'), ('invitation.revoke', 'Invitation Revoke'), ('key_rotation.end', 'Key Rotation End'), ('key_rotation.start', 'Key Rotation Start'), ('label.add', 'Label Add'), ('label.change', 'Label Change'), ('label.remove', 'Label Remove'), ('ledger.accept', 'Ledger Accept'), ('ledger.accept_all', 'Ledger Accept All'), ('ledger.export', 'Ledger Export'), ('ledger.rebase', 'Ledger Rebase'), ('member.deactivate', 'Member Deactivate'), ('member.hand_over', 'Member Hand Over'), ('member.leave', 'Member Leave'), ('member.reactivate', 'Member Reactivate'), ('member.remove', 'Member Remove'), ('member.role', 'Member Role'), ('name.change', 'Name Change'), ('notifications.change', 'Notifications Change'), ('password.change', 'Password Change'), ('password.reset', 'Password Reset'), ('member.sign_out', 'Member Sign Out'), ('ownership.accept', 'Ownership Accept'), ('ownership.decline', 'Ownership Decline'), ('ownership.request', 'Ownership Request'), ('ownership.take_back', 'Ownership Take Back'), ('preset.add', 'Preset Add'), ('preset.change', 'Preset Change'), ('preset.remove', 'Preset Remove'), ('recovery_codes.renew', 'Recovery Codes Renew'), ('second_factor.add', 'Second Factor Add'), ('second_factor.remove', 'Second Factor Remove'), ('second_factor.reset', 'Second Factor Reset'), ('session.end', 'Session End'), ('second_person.change', 'Second Person Change'), ('sign_in', 'Sign In'), ('sign_in.refuse', 'Sign In Refuse'), ('sign_out', 'Sign Out'), ('team.create', 'Team Create'), ('team.restore', 'Team Restore'), ('team.suspend', 'Team Suspend'), ('single_sign_on.bypass', 'Single Sign On Bypass'), ('single_sign_on.change', 'Single Sign On Change'), ('single_sign_on.join', 'Single Sign On Join'), ('single_sign_on.remove', 'Single Sign On Remove'), ('single_sign_on.require', 'Single Sign On Require'), ('single_sign_on.secret', 'Single Sign On Secret'), ('single_sign_on.test', 'Single Sign On Test'), ('single_sign_on.unlink', 'Single Sign On Unlink'), ('team.domains', 'Team Domains'), ('team.sessions', 'Team Sessions'), ('team.sign_out', 'Team Sign Out'), ('team.time_zone', 'Team Time Zone'), ('team.two_factor', 'Team Two Factor'), ('token.add', 'Token Add'), ('token.remove', 'Token Remove'), ('token.request', 'Token Request'), ('token.undecryptable', 'Token Undecryptable'), ('top_up.change', 'Top Up Change'), ('versions.create', 'Versions Create'), ('video.hide', 'Video Hide'), ('video.label', 'Video Label'), ('video.recheck', 'Video Recheck'), ('video.unhide', 'Video Unhide'), ('voice.consent', 'Voice Consent'), ('voice.consent_withdraw', 'Voice Consent Withdraw'), ('webhook.remove', 'Webhook Remove'), ('webhook.set', 'Webhook Set')], max_length=40)),
                ('target', models.CharField(max_length=100)),
                ('before', models.JSONField(blank=True, default=dict)),
                ('after', models.JSONField(blank=True, default=dict)),
                ('details', models.JSONField(blank=True, default=dict)),
                ('previous_hash', models.CharField(blank=True, max_length=64)),
                ('row_hash', models.CharField(max_length=64)),
            ],
            options={
                'indexes': [models.Index(fields=['team_id', 'action', 'target'], name='audit_of_target'), models.Index(fields=['team_id', 'actor_id', 'position'], name='audit_of_actor'), models.Index(fields=['team_id', 'source', 'position'], name='audit_of_source'), models.Index(fields=['team_id', 'happened_at'], name='audit_of_time')],
                'constraints': [models.UniqueConstraint(fields=('team_id', 'position'), name='audit_chain_has_no_fork'), models.CheckConstraint(condition=models.Q(('actor_kind__in', ['person', 'api_key', 'system', 'unknown'])), name='audit_actor_kind_known'), models.CheckConstraint(condition=models.Q(('source__in', ['portal', 'command', 'system'])), name='audit_source_known')],
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('second_person_above', models.DecimalField(blank=True, decimal_places=4, help_text='A charge above this amount needs a second person; null means none does.', max_digits=14, null=True)),
                ('tenant', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='team', to='proxyapi.tenant')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('second_person_above', None), ('second_person_above__gt', 0), _connector='OR'), name='team_second_person_above_positive')],
            },
        ),
        migrations.CreateModel(
            name='AlertRule',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('balance', 'the balance'), ('forecast', 'the forecast'), ('budget', 'budgets'), ('approval_request', 'approval requests'), ('top_up_failed', 'failed top-ups'), ('top_up_off', 'top-up switched off'), ('unknown_charge', 'unknown charges'), ('refund_owed', 'refunds owed'), ('stalled_job', 'jobs that no longer move'), ('reconciliation', 'the ledger'), ('clock', 'the clock')], max_length=16)),
                ('threshold', models.DecimalField(decimal_places=4, default=0, max_digits=14)),
                ('active', models.BooleanField(default=True)),
                ('by_email', models.BooleanField(default=True)),
                ('by_webhook', models.BooleanField(default=True)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alert_rules', to='dashboard.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'kind', 'threshold'), name='alert_rule_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['balance', 'forecast', 'budget', 'approval_request', 'top_up_failed', 'top_up_off', 'unknown_charge', 'refund_owed', 'stalled_job', 'reconciliation', 'clock'])), name='alert_rule_kind_known'), models.CheckConstraint(condition=models.Q(('threshold__gte', 0)), name='alert_rule_threshold_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='AlertEvent',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('subject', models.CharField(max_length=60)),
                ('threshold', models.DecimalField(decimal_places=4, default=0, max_digits=14)),
                ('period', models.CharField(blank=True, max_length=40)),
                ('for_money', models.BooleanField(default=False)),
                ('notification', models.CharField(blank=True, choices=[('video_done', 'My video is done'), ('video_failed', 'My video failed'), ('request_answered', 'My request was answered'), ('token_stopped', 'A token of mine stopped working')], max_length=16)),
                ('in_portal', models.BooleanField(default=True, help_text='False: the person wants no notifications of this kind listed.')),
                ('state', models.CharField(help_text='Status name, for the icon.', max_length=9)),
                ('title', models.CharField(max_length=160)),
                ('text', models.CharField(blank=True, max_length=400)),
                ('url', models.CharField(blank=True, help_text='Page of the portal to open.', max_length=200)),
                ('happened_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('member', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('rule', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dashboard.alertrule')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alert_events', to='dashboard.team')),
            ],
            options={
                'indexes': [models.Index(fields=['team', '-happened_at'], name='alert_newest')],
                'constraints': [models.UniqueConstraint(fields=('rule', 'subject', 'threshold', 'period'), name='alert_once_a_period'), models.UniqueConstraint(condition=models.Q(('notification', ''), _negated=True), fields=('team', 'member', 'notification', 'subject', 'period'), name='notification_once'), models.CheckConstraint(condition=models.Q(('notification', ''), models.Q(('member__isnull', False), ('rule__isnull', True)), _connector='OR'), name='notification_is_for_a_member')],
            },
        ),
        migrations.CreateModel(
            name='AlertWebhook',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('url', models.URLField(max_length=500)),
                ('ciphertext', models.BinaryField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('team', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='webhook', to='dashboard.team')),
            ],
        ),
        migrations.CreateModel(
            name='ApprovalRequest',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('note', models.CharField(blank=True, max_length=300)),
                ('second_person_above', models.DecimalField(blank=True, decimal_places=4, help_text="The team's rule that the charge exceeded when it was requested.", max_digits=14, null=True)),
                ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('decision', models.CharField(blank=True, choices=[('approved', 'Approved'), ('declined', 'Declined'), ('stale', 'outdated'), ('withdrawn', 'Withdrawn')], max_length=9)),
                ('answer', models.CharField(blank=True, help_text='Note of the approver.', max_length=300)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('charge', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='approval_request', to='proxyapi.charge')),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='approval_requests', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='approval_requests', to='dashboard.team')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('decision', '')), fields=['team', 'requested_at'], name='approval_request_waiting'), models.Index(fields=['team', '-decided_at'], name='approval_request_decided')],
                'constraints': [models.CheckConstraint(condition=models.Q(('decision__in', ['', 'approved', 'declined', 'stale', 'withdrawn'])), name='approval_request_decision_known'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('decided_by__isnull', True), ('decision', '')), models.Q(models.Q(('decision', ''), _negated=True), ('decided_at__isnull', False), ('decided_by__isnull', False)), _connector='OR'), name='approval_request_decided_by_a_person')],
            },
        ),
        migrations.CreateModel(
            name='ApprovalComment',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('text', models.CharField(max_length=1000)),
                ('written_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('approval', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='dashboard.approvalrequest')),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('written_at', 'pk'),
                'indexes': [models.Index(fields=['approval', 'written_at'], name='approval_comment_order')],
                'constraints': [models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='approval_comment_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='NotificationPreference',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('video_done', 'My video is done'), ('video_failed', 'My video failed'), ('request_answered', 'My request was answered'), ('token_stopped', 'A token of mine stopped working')], max_length=16)),
                ('in_portal', models.BooleanField()),
                ('by_email', models.BooleanField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notification_preferences', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='notification_preference_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['video_done', 'video_failed', 'request_answered', 'token_stopped'])), name='notification_preference_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='Budget',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('period', models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month')], default='month', max_length=5)),
                ('soft', models.DecimalField(blank=True, decimal_places=4, help_text='A warning is shown from this amount.', max_digits=14, null=True)),
                ('hard', models.DecimalField(blank=True, decimal_places=4, help_text='Charges above this amount are refused.', max_digits=14, null=True)),
                ('active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('member', models.ForeignKey(blank=True, help_text='Null means the whole team.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to='dashboard.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('member__isnull', False)), fields=('team', 'member', 'period'), name='budget_once_per_member_period'), models.UniqueConstraint(condition=models.Q(('member__isnull', True)), fields=('team', 'period'), name='budget_once_per_team_period'), models.CheckConstraint(condition=models.Q(('period__in', ['day', 'week', 'month'])), name='budget_period_known'), models.CheckConstraint(condition=models.Q(('soft__isnull', False), ('hard__isnull', False), _connector='OR'), name='budget_has_a_limit'), models.CheckConstraint(condition=models.Q(('soft__isnull', True), ('soft__gt', 0), _connector='OR'), name='budget_soft_positive'), models.CheckConstraint(condition=models.Q(('hard__isnull', True), ('hard__gt', 0), _connector='OR'), name='budget_hard_positive'), models.CheckConstraint(condition=models.Q(('soft__isnull', True), ('hard__isnull', True), ('hard__gte', models.F('soft')), _connector='OR'), name='budget_hard_not_below_soft')],
            },
        ),
        migrations.CreateModel(
            name='BudgetChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('soft_before', models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True)),
                ('hard_before', models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True)),
                ('soft_after', models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True)),
                ('hard_after', models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True)),
                ('happened_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('budget', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='dashboard.budget')),
                ('changed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('soft_before__isnull', False), ('hard_before__isnull', False), ('soft_after__isnull', False), ('hard_after__isnull', False), _connector='OR'), name='budget_change_has_a_limit')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('channel', models.CharField(choices=[('email', 'e-mail'), ('webhook', 'Webhook')], max_length=7)),
                ('address', models.CharField(help_text="E-mail address, or the webhook's host.", max_length=254)),
                ('state', models.CharField(choices=[('due', 'Due'), ('delivered', 'Delivered'), ('failed', 'Failed')], default='due', max_length=9)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('status', models.PositiveSmallIntegerField(blank=True, help_text='HTTP status of the last response.', null=True)),
                ('error', models.CharField(blank=True, help_text='Why the last attempt failed.', max_length=200)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('delivered_at', models.DateTimeField(blank=True, null=True)),
                ('event', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='dashboard.alertevent')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'due')), fields=['due_at'], name='delivery_due'), models.Index(fields=['event', 'created_at'], name='delivery_of_event')],
                'constraints': [models.UniqueConstraint(fields=('event', 'channel', 'address'), name='delivery_once_per_address'), models.CheckConstraint(condition=models.Q(('channel__in', ['email', 'webhook'])), name='delivery_channel_known'), models.CheckConstraint(condition=models.Q(('state__in', ['due', 'delivered', 'failed'])), name='delivery_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'delivered'), _negated=True), ('delivered_at__isnull', False), _connector='OR'), name='delivery_delivered_has_time')],
            },
        ),
        migrations.CreateModel(
            name='CharacterPhoto',
            fields=[
                ('job', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='character_photo', serialize=False, to='proxyapi.job')),
                ('name', models.CharField(help_text="As the member's computer called it.", max_length=100)),
                ('sha256', models.CharField(help_text='Checksum in hexadecimal, as sent.', max_length=64)),
                ('size', models.PositiveIntegerField(help_text='Bytes, as sent.')),
                ('width', models.PositiveIntegerField()),
                ('height', models.PositiveIntegerField()),
                ('confirmed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('confirmed_by', models.ForeignKey(help_text='Who confirmed the right to use it.', on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Label',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=40)),
                ('key', models.CharField(editable=False, max_length=120)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='dashboard.team')),
                ('jobs', models.ManyToManyField(related_name='labels', through='dashboard.VideoLabel', to='proxyapi.job')),
            ],
            options={
                'ordering': ('key',),
                'constraints': [models.UniqueConstraint(fields=('team', 'key'), name='label_name_once_per_team'), models.CheckConstraint(condition=models.Q(('key', ''), _negated=True), name='label_has_a_name')],
            },
        ),
        migrations.CreateModel(
            name='Preset',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('type', models.CharField(help_text='Video type, as the service names it.', max_length=20)),
                ('options', models.JSONField(blank=True, default=dict, help_text='Kept options of the service by field name.')),
                ('values', models.JSONField(blank=True, default=dict, help_text='Kept settings that are no options, by field name.')),
                ('script_request', models.JSONField(blank=True, default=dict, help_text='Length, style, tone and language of a written script.')),
                ('uses_brand_kit', models.BooleanField(default=False, help_text='Captions and watermark come from the kit as it is when used.')),
                ('missing', models.JSONField(blank=True, default=dict)),
                ('compared_at', models.DateTimeField(default=django.utils.timezone.now, help_text="When its options were last compared with the service's.")),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('used_count', models.PositiveIntegerField(default=0)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('picture_of', models.ForeignKey(blank=True, help_text='The video that it was saved from.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='proxyapi.job')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='presets', to='dashboard.team')),
            ],
            options={
                'ordering': ('-used_count', models.OrderBy(models.F('last_used_at'), descending=True, nulls_last=True), 'name', 'pk'),
                'constraints': [models.UniqueConstraint(models.F('team'), django.db.models.functions.text.Lower('name'), name='preset_name_once_per_team'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='preset_has_a_name'), models.CheckConstraint(condition=models.Q(('type', ''), _negated=True), name='preset_has_a_type')],
            },
        ),
        migrations.CreateModel(
            name='DraftOrigin',
            fields=[
                ('job', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='draft_origin', serialize=False, to='proxyapi.job')),
                ('idea', models.ForeignKey(blank=True, help_text='The idea whose title is the topic.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='origins', to='proxyapi.idea')),
                ('script_request', models.JSONField(blank=True, default=dict)),
                ('left_out', models.JSONField(blank=True, default=dict, help_text='Names of kept options that were not offered, by field.')),
                ('uses_brand_kit', models.BooleanField(default=False)),
                ('kit_values', models.JSONField(blank=True, default=dict)),
                ('replaced_values', models.JSONField(blank=True, default=dict)),
                ('preset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='origins', to='dashboard.preset')),
            ],
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('treasurer', 'Treasurer'), ('producer', 'Producer'), ('viewer', 'Viewer')], max_length=9)),
                ('joined_at', models.DateTimeField(auto_now_add=True)),
                ('alerts_read_at', models.DateTimeField(blank=True, help_text='Alerts up to this time are read.', null=True)),
                ('ideas_seen_at', models.DateTimeField(blank=True, help_text='Ideas that came after this time are marked as new.', null=True)),
                ('deactivated_at', models.DateTimeField(blank=True, help_text='From then on the person may not enter the team.', null=True)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='dashboard.team')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('default_preset', models.ForeignKey(blank=True, help_text='New drafts of the member start with it.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='default_of', to='dashboard.preset')),
                ('getting_started_hidden_at', models.DateTimeField(blank=True, help_text='The card of the first steps is shown no more.', null=True)),
                ('favourite_voices', models.JSONField(blank=True, default=dict, help_text='Ids of voices with a star, by base URL of the upstream, which has its own ids.')),
            ],
            options={
                'ordering': ('joined_at', 'pk'),
                'constraints': [models.UniqueConstraint(fields=('team', 'user'), name='membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'admin', 'treasurer', 'producer', 'viewer'])), name='membership_role_known')],
            },
        ),
        migrations.CreateModel(
            name='SecondFactorSecret',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('ciphertext', models.BinaryField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='SignInEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.EmailField(help_text='As typed, in lower case.', max_length=254)),
                ('outcome', models.CharField(choices=[('signed_in', 'signed in'), ('wrong', 'wrong address or password'), ('limited', 'too many wrong passwords'), ('disabled', 'right password of a disabled account'), ('sso_refused', 'refused after single sign-on'), ('sso_required', 'right password, but single sign-on is required'), ('password_changed', 'password changed'), ('password_reset', 'password set by a link'), ('wrong_factor', 'wrong second factor'), ('factor_limited', 'too many wrong codes')], max_length=16)),
                ('client_ip', models.GenericIPAddressField()),
                ('user_agent', models.CharField(blank=True, max_length=200)),
                ('happened_at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('is_audited', models.BooleanField(default=False, help_text="Whether it is in the audit log of the user's teams.")),
                ('user', models.ForeignKey(db_index=False, help_text='Null if no user has this address.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='sign_in_events', to=settings.AUTH_USER_MODEL)),
                ('method', models.CharField(blank=True, help_text='How somebody signed in, in words.', max_length=40)),
            ],
            options={
                'indexes': [models.Index(fields=['user', '-happened_at'], name='sign_ins_of_user'), models.Index(condition=models.Q(('is_audited', False)), fields=['happened_at'], name='sign_ins_to_audit')],
            },
        ),
        migrations.CreateModel(
            name='VersionGroup',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('difference', models.CharField(choices=[('none', 'Nothing'), ('genre_id', 'Genre'), ('voice_id', 'Voice')], max_length=20)),
                ('size', models.PositiveSmallIntegerField()),
                ('nonce', models.UUIDField(help_text='Of the form that created it: sent twice, it creates one.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='version_groups', to='dashboard.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'nonce'), name='version_group_once_per_form'), models.CheckConstraint(condition=models.Q(('difference__in', ['none', 'genre_id', 'voice_id'])), name='version_difference_known'), models.CheckConstraint(condition=models.Q(('size__gte', 2), ('size__lte', 4)), name='version_group_size_limited')],
            },
        ),
        migrations.CreateModel(
            name='VideoLabel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='video_labels', to='proxyapi.job')),
                ('label', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='video_labels', to='dashboard.label')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('label', 'job'), name='label_once_per_video')],
            },
        ),
        migrations.CreateModel(
            name='VideoVersion',
            fields=[
                ('job', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='version', serialize=False, to='proxyapi.job')),
                ('number', models.PositiveSmallIntegerField(help_text='From 1.')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='dashboard.versiongroup')),
            ],
            options={
                'ordering': ('number',),
                'constraints': [models.UniqueConstraint(fields=('group', 'number'), name='version_number_once'), models.CheckConstraint(condition=models.Q(('number__gte', 1), ('number__lte', 4)), name='version_number_limited')],
            },
        ),
        migrations.CreateModel(
            name='BrandKit',
            fields=[
                ('team', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='brand_kit', serialize=False, to='dashboard.team')),
                ('options', models.JSONField(blank=True, default=dict, help_text="In the format of a preset's.")),
                ('applies_to_new_drafts', models.BooleanField(default=True)),
                ('changed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('changed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='VoiceConsent',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('voice_name', models.CharField(max_length=60)),
                ('is_own', models.BooleanField(help_text='The voice is that of the member who confirmed.')),
                ('speaker', models.CharField(help_text='Full name.', max_length=100)),
                ('agreed_on', models.DateField(blank=True, help_text="When the speaker agreed; null for the member's own voice.", null=True)),
                ('confirmed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('samples', models.JSONField(help_text='Name, size in bytes, seconds and SHA-256 of each.')),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('charge', models.OneToOneField(blank=True, help_text='The request that it was given for.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='voice_consent', to='proxyapi.charge')),
                ('confirmed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='voice_consents', to='proxyapi.job')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='voice_consents', to='dashboard.team')),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-confirmed_at', '-pk'),
                'constraints': [models.CheckConstraint(condition=models.Q(('speaker', ''), _negated=True), name='voice_consent_has_a_speaker'), models.CheckConstraint(condition=models.Q(('is_own', True), ('agreed_on__isnull', False), _connector='OR'), name='voice_consent_of_another_has_a_date'), models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at__isnull', True), ('withdrawn_by__isnull', True)), models.Q(('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='voice_consent_withdrawn_by_a_person')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('address', models.EmailField(help_text='In lower case.', max_length=254)),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('treasurer', 'Treasurer'), ('producer', 'Producer'), ('viewer', 'Viewer')], max_length=9)),
                ('message', models.CharField(blank=True, max_length=500)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('accepted', 'Accepted'), ('revoked', 'Revoked')], default='pending', max_length=8)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('key_hash', models.CharField(blank=True, help_text="SHA-256 of the link's key; empty until it is mailed.", max_length=64)),
                ('opened_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('mail_due_at', models.DateTimeField(blank=True, help_text='When to send the mail; null if it is sent or given up.', null=True)),
                ('mail_attempts', models.PositiveSmallIntegerField(default=0)),
                ('mail_sent_at', models.DateTimeField(blank=True, null=True)),
                ('mail_error', models.CharField(blank=True, max_length=200)),
                ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('invited_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='dashboard.team')),
                ('founds_team', models.BooleanField(default=False, help_text='Of the first owner of a team that an operator created.')),
            ],
            options={
                'ordering': ('created_at', 'pk'),
                'indexes': [models.Index(condition=models.Q(('mail_due_at__isnull', False)), fields=['mail_due_at'], name='invitation_mail_due')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'pending')), fields=('team', 'address'), name='invitation_once_per_address'), models.UniqueConstraint(condition=models.Q(('key_hash', ''), _negated=True), fields=('key_hash',), name='invitation_key_once'), models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'accepted', 'revoked'])), name='invitation_state_known'), models.CheckConstraint(condition=models.Q(('role__in', ['admin', 'treasurer', 'producer', 'viewer']), models.Q(('founds_team', True), ('role', 'owner')), _connector='OR'), name='invitation_role_known'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('state', 'pending')), models.Q(models.Q(('state', 'pending'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='invitation_ended_has_time'), models.CheckConstraint(condition=models.Q(models.Q(('accepted_by__isnull', False), ('state', 'accepted')), models.Q(models.Q(('state', 'accepted'), _negated=True), ('accepted_by__isnull', True)), _connector='OR'), name='invitation_accepted_by_a_person')],
            },
        ),
        migrations.CreateModel(
            name='OwnershipTransfer',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('accepted', 'Accepted'), ('declined', 'Declined'), ('taken_back', 'Taken Back'), ('lapsed', 'Lapsed')], default='pending', max_length=10)),
                ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('from_user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ownership_transfers', to='dashboard.team')),
                ('to_user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'pending')), fields=('team',), name='ownership_transfer_once'), models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'accepted', 'declined', 'taken_back', 'lapsed'])), name='ownership_transfer_state_known'), models.CheckConstraint(condition=models.Q(('from_user', models.F('to_user')), _negated=True), name='ownership_transfer_to_another'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('state', 'pending')), models.Q(models.Q(('state', 'pending'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='ownership_transfer_ended_has_time')],
            },
        ),
        migrations.CreateModel(
            name='TeamSecurity',
            fields=[
                ('team', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='security_settings', serialize=False, to='dashboard.team')),
                ('require_two_factor', models.BooleanField(default=False)),
                ('two_factor_required_at', models.DateTimeField(blank=True, help_text='Since when every member needs a second factor.', null=True)),
                ('allowed_domains', models.JSONField(blank=True, default=list, help_text='Domains of addresses that may be invited, in ASCII and lower case; empty: any.')),
                ('session_hours', models.PositiveSmallIntegerField(blank=True, help_text="From sign-in to the end; null: the installation's.", null=True)),
                ('session_idle_minutes', models.PositiveSmallIntegerField(blank=True, help_text="From the last use to the end; null: the installation's.", null=True)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('changed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('session_hours__isnull', True), models.Q(('session_hours__gte', 1), ('session_hours__lte', 720)), _connector='OR'), name='team_security_session_hours'), models.CheckConstraint(condition=models.Q(('session_idle_minutes__isnull', True), models.Q(('session_idle_minutes__gte', 15), ('session_idle_minutes__lte', 10080)), _connector='OR'), name='team_security_session_idle'), models.CheckConstraint(condition=models.Q(models.Q(('require_two_factor', True), ('two_factor_required_at__isnull', False)), models.Q(('require_two_factor', False), ('two_factor_required_at__isnull', True)), _connector='OR'), name='team_security_two_factor_since')],
            },
        ),
        migrations.CreateModel(
            name='InstallationSetup',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ('code_hash', models.CharField(blank=True, help_text='Of the newest code; empty once it was used.', max_length=128)),
                ('code_made_at', models.DateTimeField()),
                ('owner_created_at', models.DateTimeField(blank=True, null=True)),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='installation_setup_once'), models.CheckConstraint(condition=models.Q(('owner_created_at__isnull', True), ('code_hash', ''), _connector='OR'), name='installation_setup_code_once')],
            },
        ),
        migrations.CreateModel(
            name='KeyRotation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('key_id', models.CharField(help_text='The key that encrypts from now on.', max_length=32)),
                ('total', models.PositiveIntegerField(help_text='Secrets under another key at the start.')),
                ('done', models.PositiveIntegerField(default=0)),
                ('unreadable', models.JSONField(default=list, help_text='`[id, label]` of each.')),
                ('state', models.CharField(choices=[('running', 'Running'), ('done', 'Done'), ('stopped', 'Stopped')], default='running', max_length=7)),
                ('problem', models.CharField(blank=True, max_length=200)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('started_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(help_text='Of the audit log that names it.', on_delete=django.db.models.deletion.PROTECT, related_name='+', to='dashboard.team')),
            ],
            options={
                'ordering': ('-started_at', '-pk'),
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['running', 'done', 'stopped'])), name='key_rotation_state_known'), models.UniqueConstraint(condition=models.Q(('state', 'running')), fields=('state',), name='key_rotation_runs_once'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='key_rotation_ended_has_time')],
            },
        ),
        migrations.CreateModel(
            name='SingleSignOn',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('issuer', models.URLField(max_length=500)),
                ('client_id', models.CharField(max_length=200)),
                ('groups_claim', models.CharField(default='groups', max_length=100)),
                ('default_role', models.CharField(blank=True, choices=[('owner', 'Owner'), ('admin', 'Admin'), ('treasurer', 'Treasurer'), ('producer', 'Producer'), ('viewer', 'Viewer')], max_length=9)),
                ('is_required', models.BooleanField(default=False, help_text='Whether members who are not owners must sign in with it.')),
                ('tested_at', models.DateTimeField(blank=True, null=True)),
                ('tested_settings', models.CharField(blank=True, max_length=64)),
                ('test_passed', models.BooleanField(default=False)),
                ('test_result', models.CharField(blank=True, help_text='A sentence.', max_length=400)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='single_sign_on', to='dashboard.team')),
            ],
            options={
                'verbose_name_plural': 'single sign-on settings',
                'constraints': [models.CheckConstraint(condition=models.Q(('default_role__in', ['', 'admin', 'treasurer', 'producer', 'viewer'])), name='single_sign_on_default_role_known'), models.CheckConstraint(condition=models.Q(('is_required', False), ('tested_at__isnull', False), _connector='OR'), name='single_sign_on_required_was_tested'), models.CheckConstraint(condition=models.Q(models.Q(('test_passed', False), ('tested_at__isnull', True), ('tested_settings', '')), models.Q(('tested_at__isnull', False), models.Q(('tested_settings', ''), _negated=True)), _connector='OR'), name='single_sign_on_test_has_time'), models.CheckConstraint(condition=models.Q(models.Q(('issuer', ''), _negated=True), models.Q(('client_id', ''), _negated=True), models.Q(('groups_claim', ''), _negated=True)), name='single_sign_on_settings_given')],
            },
        ),
        migrations.CreateModel(
            name='SingleSignOnGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('group', models.CharField(max_length=200)),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('treasurer', 'Treasurer'), ('producer', 'Producer'), ('viewer', 'Viewer')], max_length=9)),
                ('single_sign_on', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='role_groups', to='dashboard.singlesignon')),
            ],
            options={
                'ordering': ('position',),
                'constraints': [models.UniqueConstraint(fields=('single_sign_on', 'position'), name='single_sign_on_group_position_once'), models.UniqueConstraint(fields=('single_sign_on', 'group'), name='single_sign_on_group_once'), models.CheckConstraint(condition=models.Q(('role__in', ['admin', 'treasurer', 'producer', 'viewer'])), name='single_sign_on_group_role_known')],
            },
        ),
        migrations.CreateModel(
            name='SignInDomain',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('domain', models.CharField(help_text='In ASCII and lower case.', max_length=253, unique=True)),
                ('allowed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sign_in_domains', to='dashboard.team')),
            ],
            options={
                'ordering': ('domain',),
            },
        ),
        migrations.CreateModel(
            name='SingleSignOnLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('issuer', models.URLField(max_length=500)),
                ('subject', models.CharField(max_length=255)),
                ('linked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('single_sign_on', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='dashboard.singlesignon')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='single_sign_on_links', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('single_sign_on', 'issuer', 'subject'), name='single_sign_on_link_subject_once'), models.UniqueConstraint(fields=('single_sign_on', 'issuer', 'user'), name='single_sign_on_link_user_once'), models.CheckConstraint(condition=models.Q(models.Q(('issuer', ''), _negated=True), models.Q(('subject', ''), _negated=True)), name='single_sign_on_link_complete')],
            },
        ),
        migrations.CreateModel(
            name='SingleSignOnSecret',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('ciphertext', models.BinaryField()),
                ('is_current', models.BooleanField()),
                ('set_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('set_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('single_sign_on', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='secrets', to='dashboard.singlesignon')),
            ],
            options={
                'verbose_name_plural': 'client secrets',
                'constraints': [models.UniqueConstraint(fields=('single_sign_on', 'is_current'), name='single_sign_on_secret_once')],
            },
        ),
    ])]
