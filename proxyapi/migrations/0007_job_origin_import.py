from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proxyapi', '0006_job_api_key'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='job',
            name='job_origin_known',
        ),
        migrations.AlterField(
            model_name='job',
            name='origin',
            field=models.CharField(choices=[('portal', 'Portal'), ('gateway', 'Gateway'), ('import', 'Import')], default='portal', max_length=7),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['portal', 'gateway', 'import'])), name='job_origin_known'),
        ),
    ]
