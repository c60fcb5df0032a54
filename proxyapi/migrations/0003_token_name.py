from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proxyapi', '0002_title_statistics'),
    ]

    operations = [
        migrations.AddField(
            model_name='token',
            name='name',
            field=models.CharField(blank=True, db_default='', default='', max_length=60),
        ),
    ]
