from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proxyapi', '0003_token_name'),
    ]

    operations = [
        migrations.AddField(
            model_name='account',
            name='price_currency',
            field=models.CharField(blank=True, db_default='', default='', max_length=3),
        ),
        migrations.AddField(
            model_name='account',
            name='price_per_credit',
            field=models.DecimalField(blank=True, decimal_places=6, max_digits=10, null=True),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('price_currency', ''), ('price_per_credit', None)), models.Q(('price_per_credit__gt', 0), ('price_per_credit__isnull', False), models.Q(('price_currency', ''), _negated=True)), _connector='OR'), name='account_price_with_currency'),
        ),
    ]
