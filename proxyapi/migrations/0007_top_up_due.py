import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proxyapi', '0006_day_totals'),
    ]

    operations = [
        migrations.AddField(
            model_name='topup',
            name='due_at',
            field=models.DateTimeField(default=django.utils.timezone.now, help_text='When to read it next.'),
        ),
    ]
