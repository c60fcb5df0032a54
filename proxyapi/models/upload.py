"""A file that is sent with a charging call, stored until the charge is settled and then deleted."""

from __future__ import annotations

from django.db import models

from proxyapi.models.charge import Charge


class Upload(models.Model):
    charge = models.ForeignKey(Charge, models.CASCADE, related_name="uploads")
    field = models.CharField(max_length=30, help_text="Form field, such as samples[].")
    name = models.CharField(max_length=100)
    content_type = models.CharField(max_length=100)
    content = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.field} {self.name}"
