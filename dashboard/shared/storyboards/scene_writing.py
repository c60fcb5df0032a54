"""What the service writes scenes from: a description, and a style that is added as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from dashboard.shared.clip_models import ClipModel, account_clip_models
from dashboard.shared.video_options import account_options
from proxyapi.models import Account, Storyboard

MAX_WRITTEN_SCENES, USUAL_SCENE_COUNT = 20, 8
MAX_DESCRIPTION_CHARACTERS = 4000
DEFAULT_SCENE_DURATION_S = 5  # where the engine's durations are not known


class SceneStyle(NamedTuple):
    label: str
    sentence: str


STYLES: Mapping[str, SceneStyle] = MappingProxyType(
    {
        "cinematic": SceneStyle("Cinematic", "Cinematic style."),
        "documentary": SceneStyle("Documentary", "Documentary style."),
        "illustrated": SceneStyle("Illustrated", "Illustrated style."),
        "product": SceneStyle("Product", "Product film."),
        "": SceneStyle("No style", ""),
    }
)


def join_writing_prompt(description: str, style: str) -> str:
    """Return the description with the sentence of the style, as it is sent."""
    known = STYLES.get(style)
    return "\n\n".join(filter(None, (description.strip(), known.sentence if known else "")))


def writing_body(storyboard: Storyboard) -> dict[str, object]:
    """Return the body of `text_to_scene.prompt`."""
    prompt = join_writing_prompt(storyboard.description, storyboard.style)
    count = {"scenes": storyboard.scene_count} if storyboard.scene_count else {}
    return {"prompt": prompt, **count}


def storyboard_models(account: Account) -> tuple[ClipModel, ...]:
    """Return the models that a storyboard can be made with: those that the service lists as clip
    engines too, all of them as long as its list is not known."""
    listed = {row.get("slug") for row in account_options(account).groups.get("clip_engines", ())}
    models = account_clip_models(account)
    return tuple(model for model in models if not listed or model.slug in listed)


def default_duration(model: ClipModel | None) -> int:
    """Return the seconds of a new scene."""
    menu = model.menu("duration") if model else None
    return menu.default if menu and isinstance(menu.default, int) else DEFAULT_SCENE_DURATION_S
