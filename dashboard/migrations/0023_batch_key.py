import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0022_batch_rows'),
        ('proxyapi', '0012_idle_ledgers'),
    ]

    operations = [
        migrations.AddField(
            model_name='batch',
            name='key',
            field=models.ForeignKey(blank=True, help_text='The API key or agent that let it run last; its charges are the key’s.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='proxyapi.apikey'),
        ),
    ]
