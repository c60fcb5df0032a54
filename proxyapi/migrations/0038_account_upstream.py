from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proxyapi', '0037_database_epoch'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='account',
            index=models.Index(fields=['environment', 'upstream_id'], name='account_upstream'),
        ),
    ]
