"""docs/reference/reached-operations.md: the page that sends each operation of the spec, and the
browser test that shows it.

A typed shortcut (`b_roll.render`) counts by its generic twin (`faceless.render`): the portal sends
the twin. tests/browser/conftest.py checks the rows against the sandbox's journal.
Written by `python -m tests.checks.reached_operations` (and by `make fix`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from proxyapi.operations import OPERATIONS

ROOT = Path(__file__).resolve().parents[2]
BROWSER_TESTS = "tests/browser"
REACHED_PAGE = "docs/reference/reached-operations.md"
TYPED_SHORTCUT = re.compile(r"^(b_roll|ai_visuals|url_to_video)\.")

FIRST_VIDEO = "test_first_video.py::test_a_newcomer_makes_and_plays_a_video"
SCENES = "test_scenes.py::test_a_failed_render_is_retried_and_then_changed_scene_by_scene"
EXPORT = "test_exports.py::test_an_export_is_made_watched_and_played"
B_ROLL = "test_video_types.py::test_b_roll_from_a_topic_over_a_written_script_to_the_film"
CLIP = "test_clips.py::test_a_clip_from_a_picture_is_priced_plays_and_gives_the_next_one_its_frame"
WEB_PAGE = "test_video_types.py::test_a_web_page_with_its_images_in_another_order_to_the_film"
TOP_UP = "test_top_up.py::test_a_setting_is_saved_by_the_worker_and_shown_without_a_reload"
IDEAS = "test_ideas.py::test_a_search_finds_ideas_that_become_drafts"
CLONE = "test_voices.py::test_a_voice_is_cloned_in_a_bought_slot_played_and_reads_a_draft"
STORYBOARD = "test_storyboard_film.py::test_a_storyboard_from_a_description_to_the_film"
CHARACTER = "test_characters.py::test_a_character_from_a_photo_over_a_failed_training_to_the_studio"


@dataclass(frozen=True, slots=True)
class ReachedOperation:
    """`page` is the page whose use sends the operation; `test` a browser test, from its folder."""

    page: str
    test: str


REACHED_OPERATIONS: Mapping[str, ReachedOperation] = {
    "me.get": ReachedOperation("Tokens", FIRST_VIDEO),
    "credits.costs": ReachedOperation("Costs", FIRST_VIDEO),
    "credits.history": ReachedOperation("Ledger", FIRST_VIDEO),
    "top_up.get": ReachedOperation("Auto top-up", TOP_UP),
    "top_up.put": ReachedOperation("Auto top-up", TOP_UP),
    "faceless.options": ReachedOperation("Studio, all steps", FIRST_VIDEO),
    "text_to_video.models": ReachedOperation("Clips", CLIP),
    "text_to_video.estimate": ReachedOperation("Clips, price card", CLIP),
    "text_to_video.create": ReachedOperation("Clips, Generate", CLIP),
    "text_to_video.get": ReachedOperation("Clips", CLIP),
    "text_to_scene.create": ReachedOperation("Storyboard, Render price", STORYBOARD),
    "text_to_scene.prompt": ReachedOperation("New storyboard, Write scenes", STORYBOARD),
    "text_to_scene.scenes": ReachedOperation("Storyboard, Render price", STORYBOARD),
    "text_to_scene.sort": ReachedOperation("Storyboard, Generate", STORYBOARD),
    "text_to_scene.frames": ReachedOperation("Storyboard, Render price", STORYBOARD),
    "text_to_scene.chain": ReachedOperation("Storyboard, Render price", STORYBOARD),
    "text_to_scene.clips": ReachedOperation("Storyboard, Generate", STORYBOARD),
    "text_to_scene.estimate": ReachedOperation("Storyboard, Render price", STORYBOARD),
    "text_to_scene.render": ReachedOperation("Storyboard, Render", STORYBOARD),
    "text_to_scene.get": ReachedOperation("Storyboard", STORYBOARD),
    "faceless.create": ReachedOperation("Studio, price card", FIRST_VIDEO),
    "faceless.patch": ReachedOperation("Studio, price card", FIRST_VIDEO),
    "faceless.scripts": ReachedOperation("Studio, Script", B_ROLL),
    "faceless.estimate": ReachedOperation("Studio, price card", FIRST_VIDEO),
    "faceless.render": ReachedOperation("Studio, Render", FIRST_VIDEO),
    "faceless.get": ReachedOperation("Video", FIRST_VIDEO),
    "faceless.retry": ReachedOperation("Video, Retry", SCENES),
    "faceless.scrape_images": ReachedOperation("Studio, Source", WEB_PAGE),
    "faceless.scrape_script": ReachedOperation("Studio, Source", WEB_PAGE),
    "faceless.export": ReachedOperation("Video, Export", EXPORT),
    "ideas.discover": ReachedOperation("Ideas, Search", IDEAS),
    "ideas.list": ReachedOperation("Ideas", IDEAS),
    "ai_visuals.regenerate": ReachedOperation("Scenes, New image", SCENES),
    "ai_visuals.upload": ReachedOperation("Scenes, Use my own", SCENES),
    "voice_clones.slots": ReachedOperation("Voices, Slots", CLONE),
    "voice_clones.create": ReachedOperation("Voices, Clone a voice", CLONE),
    "voice_clones.get": ReachedOperation("Voices, a voice", CLONE),
    "characters.genres": ReachedOperation("Characters, Genre", CHARACTER),
    "characters.create": ReachedOperation("Characters, Preview", CHARACTER),
    "characters.preview": ReachedOperation("Characters, Preview", CHARACTER),
    "characters.train": ReachedOperation("Characters, Train", CHARACTER),
    "characters.get": ReachedOperation("Character", CHARACTER),
}


def generic_twin(name: str) -> str:
    """Return the generic operation of a typed shortcut; the name itself if it has none."""
    twin = TYPED_SHORTCUT.sub("faceless.", name)
    return twin if twin in OPERATIONS else name


def find_reach_problems(root: Path) -> Iterator[str]:
    for name, reached in REACHED_OPERATIONS.items():
        if name not in OPERATIONS:
            yield f"{__name__}: there is no operation {name}"
        file, _, test = reached.test.partition("::")
        source = root / BROWSER_TESTS / file
        if not source.is_file() or f"\ndef {test}(" not in source.read_text(encoding="utf-8"):
            yield f"{__name__}: {name} names {reached.test}, which does not exist"
    if (root / REACHED_PAGE).read_text(encoding="utf-8") != render_reached_page():
        yield f"{REACHED_PAGE} is not what the code says. Run: make fix"


def render_reached_page() -> str:
    reached = {name: REACHED_OPERATIONS.get(generic_twin(name)) for name in OPERATIONS}
    rows = ["| operation | endpoint | page | browser test |", "| --- | --- | --- | --- |"]
    for name, by in reached.items():
        operation, twin = OPERATIONS[name], generic_twin(name)
        shown = f"`{by.test}`" if by else ""
        if by and twin != name:
            shown = f"as `{twin}`"
        endpoint = f"{operation.method} `{operation.path}`"
        rows.append(f"| `{name}` | {endpoint} | {by.page if by else 'none yet'} | {shown} |")
    own = sum(1 for name, by in reached.items() if by and generic_twin(name) == name)
    twins = sum(map(bool, reached.values())) - own
    return (
        "<!-- Written by `python -m tests.checks.reached_operations`; change the code instead. -->"
        f"\n\n# Operations that pages reach\n\n{own + twins} of {len(OPERATIONS)}: {own} are sent "
        f"by a page, and {twins} typed shortcuts have a generic twin that is sent.\n\n"
        + "\n".join(rows)
        + "\n"
    )


if __name__ == "__main__":
    (ROOT / REACHED_PAGE).write_text(render_reached_page(), encoding="utf-8")
