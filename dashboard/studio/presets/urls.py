"""URLs of presets and of the brand kit."""

from __future__ import annotations

from django.urls import path

from dashboard.studio.presets.views import brand_kit, dialogs, presets

urlpatterns = [
    path("studio/presets/", presets.list_presets, name="presets"),
    path("studio/presets/sources/", dialogs.ListSources.as_view(), name="preset-sources"),
    path("studio/presets/comparisons/", presets.request_comparison, name="preset-comparisons"),
    path("studio/presets/from/<uuid:job_id>/", dialogs.SavePreset.as_view(), name="preset-new"),
    path("studio/presets/<uuid:preset_id>/", dialogs.EditPreset.as_view(), name="preset"),
    path("studio/presets/<uuid:preset_id>/name/", presets.rename, name="preset-names"),
    path("studio/presets/<uuid:preset_id>/drafts/", presets.start_from, name="preset-drafts"),
    path("studio/presets/<uuid:preset_id>/copies/", presets.duplicate, name="preset-copies"),
    path(
        "studio/presets/<uuid:preset_id>/defaults/", presets.choose_default, name="preset-defaults"
    ),
    path(
        "studio/presets/<uuid:preset_id>/removals/",
        dialogs.DeletePreset.as_view(),
        name="preset-removals",
    ),
    path(
        "studio/presets/<uuid:preset_id>/replacements/",
        presets.replace_option,
        name="preset-replacements",
    ),
    path("studio/brand-kit/", brand_kit.EditBrandKit.as_view(), name="brand-kit"),
    path("studio/<uuid:job_id>/brand-kit/", brand_kit.switch_brand_kit, name="draft-brand-kit"),
]
