"""URLs of the voices: the list, and the voices that a team clones."""

from __future__ import annotations

from django.urls import path

from dashboard.voices.views import clones, consents, lists, samples

urlpatterns = [
    path("voices/", lists.voices, name="voices"),
    path("voices/new/", clones.start_voice, name="voice-new"),
    path("voices/favourites/", lists.change_favourite, name="voice-favourites"),
    path("voices/slots/<uuid:account_id>/", lists.read_slots, name="voice-slots"),
    path("voices/<uuid:job_id>/", clones.voice, name="voice"),
    path("voices/<uuid:job_id>/samples/", samples.add_samples, name="voice-samples"),
    path("voices/<uuid:job_id>/samples/<uuid:file_id>/", samples.play_sample, name="voice-sample"),
    path(
        "voices/<uuid:job_id>/samples/<uuid:file_id>/removals/",
        samples.remove_sample,
        name="voice-sample-removals",
    ),
    path("voices/<uuid:job_id>/creations/", clones.CreateVoice.as_view(), name="voice-creations"),
    path("voices/<uuid:job_id>/deletions/", clones.delete_voice, name="voice-deletions"),
    path(
        "voices/<uuid:job_id>/withdrawals/",
        consents.WithdrawConsent.as_view(),
        name="voice-withdrawals",
    ),
]
