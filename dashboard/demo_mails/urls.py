"""URLs of the e-mails of a demo."""

from __future__ import annotations

from django.urls import path

from dashboard.demo_mails import views

urlpatterns = [
    path("demo/mails/", views.list_mails, name="demo-mails"),
    path("demo/mails/<slug:mail_id>/", views.show_mail, name="demo-mail"),
    path("demo/mails/<slug:mail_id>/html/", views.show_html, name="demo-mail-html"),
]
