"""URLs of ideas: what is owned, searches."""

from __future__ import annotations

from django.urls import path

from dashboard.ideas import views

urlpatterns = [
    path("ideas/", views.ideas, name="ideas"),
    path("ideas/searches/", views.searches, name="idea-searches"),
    path("ideas/searches/check/", views.check_search, name="idea-search-check"),
    path("ideas/refreshes/", views.refresh_list, name="idea-refreshes"),
]
