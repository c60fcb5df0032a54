"""Assets of a video: pictures scraped from a page, uploaded, or drawn for its scenes.

Scraped pictures replace those of an earlier scrape. The scene images of an ai-visuals video
are laid out when it is rendered, one for each part of its script; a re-rolled one is seen in
the next render.
"""

from __future__ import annotations

import math
import re
from typing import Any, Literal

from proxyapi.sandbox import billing, plans
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.catalogue import genre_slug
from proxyapi.sandbox.errors import Forbidden, NotFound, ValidationError
from proxyapi.sandbox.faceless import changes, record
from proxyapi.sandbox.pictures import PictureStore, promise_picture
from proxyapi.sandbox.records import Asset, Charge, Video
from proxyapi.sandbox.scraping.page import PagePicture, WebPage
from proxyapi.sandbox.spoken_words import count_spoken_words
from proxyapi.sandbox.world import World

MAX_SCENES = 24
WORDS_PER_SCENE = 14
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*|\n+")

Source = Literal["scraped", "uploaded", "generated"]


def find_asset(_: World, video: Video, key: str) -> Asset | None:
    """An asset by its id, inside its video."""
    return next((it for it in video.assets if str(it.id) == key), None)


def attach_page_pictures(
    call: ApiCall, video: Video, page: WebPage, files: list[tuple[bytes, str] | None]
) -> None:
    """Put the pictures of a page in place of those scraped before, in the page's order.

    `files` are the pictures of a fetched page; those of a built-in article are promised.
    """
    kept = _pictures(call)
    for asset in [it for it in video.assets if it.source == "scraped"]:
        _remove(kept, video, asset)
    world = call.world
    if page.built_in:
        names = [promise_picture(world, **_described(world, shown)) for shown in page.pictures]
        found = list(zip(page.pictures, names, strict=True))
    else:
        pairs = zip(page.pictures, files, strict=False)
        found = [(shown, kept.keep(*file)) for shown, file in pairs if file is not None]
    new = [
        _asset(world, "scraped", name, source_url=shown.url, text=shown.text)
        for shown, name in found
    ]
    video.assets[:0] = new
    video.page = {"site": page.site, "colour": page.colour}
    _mark_changed(world, video)


def add_upload(
    call: ApiCall, video: Video, data: bytes, extension: str, source_url: str | None = None
) -> None:
    """Add own media at the end. Raises 403 when it is busy or the plan's storage is full, and
    422 when the video is full."""
    _make_room(call, video)
    plans.count_upload(call, len(data))
    _append(call.world, video, _pictures(call).keep(data, extension), source_url)


def add_article_picture(call: ApiCall, video: Video, shown: PagePicture) -> None:
    """Add the picture of a built-in article at the end."""
    _make_room(call, video)
    name = promise_picture(call.world, **_described(call.world, shown))
    _append(call.world, video, name, shown.url)


def _make_room(call: ApiCall, video: Video) -> None:
    changes.refuse_busy_video(call, video)
    if len(video.assets) >= call.world.settings.uploads_per_video:
        raise ValidationError({"file": ["This video has as many assets as it can have."]})


def _append(world: World, video: Video, name: str, source_url: str | None) -> None:
    asset = _asset(world, "uploaded", name, source_url=source_url)
    asset.type = "video" if name.endswith(".mp4") else "image"
    video.assets.append(asset)
    _mark_changed(world, video)


def regenerate_asset(call: ApiCall, video: Video, asset: Asset) -> Charge:
    """Re-roll one scene image; charges, free uses first. Only drawn images can be re-rolled."""
    world = call.world
    if asset.source != "generated":
        raise ValidationError({"asset": ["Only a generated image can be regenerated."]})
    if video.status in ("rendering", "syncing"):
        raise Forbidden("The video is processing currently. Try again once finished.")
    price = billing.get_price(world, "ai_image_regenerated")
    label, resource = "Scene image", f"faceless:{video.id}"
    use = FeatureUse("ai_image_regenerated", price, resource, label, video.type)
    billing.require_credits(call, use)
    charge = billing.charge_credits(call, use)
    _pictures(call).remove(asset.file)
    asset.roll += 1
    asset.file = promise_picture(world, **_scene(world, video, asset.text, asset.id, asset.roll))
    _mark_changed(world, video)
    return charge


def create_scene_images(call: ApiCall, video: Video) -> None:
    """The scene images of the script as it is now; the same script in the same look keeps them."""
    world, kept = call.world, _pictures(call)
    texts = _script_parts(video.script or "")
    drawn = [it for it in video.assets if it.source == "generated"]
    if [it.text for it in drawn] == texts:
        _redraw_outdated(world, kept, video, drawn)
        return
    for asset in drawn:
        _remove(kept, video, asset)
    new = []
    for text in texts:
        asset = _asset(world, "generated", "", text=text)
        asset.file = promise_picture(world, **_scene(world, video, text, asset.id, 0))
        new.append(asset)
    video.assets[:0] = new
    _mark_changed(world, video)


def _redraw_outdated(world: World, kept: PictureStore, video: Video, drawn: list[Asset]) -> None:
    """Those that a genre or a shape chosen since does not suit; a re-rolled one stays so."""
    for asset in drawn:
        scene, still = _scene(world, video, asset.text, asset.id, asset.roll), asset.file
        promised = world.stills.get(still)
        if promised is not None and promised.description != {"kind": "stills", **scene}:
            kept.remove(still)
            asset.file = promise_picture(world, **scene)
            _mark_changed(world, video)


def promise_poster(world: World, video: Video) -> None:
    """The picture that stands for the video: its first one, or one drawn of its first words."""
    if video.poster is not None and world.stills.get(video.poster) is not None:
        world.stills.drop(video.poster)
        world.remove_file_later(video.poster)
    video.poster = None
    pictures = [it.file for it in video.assets if it.type == "image"]
    if video.type not in ("ai-visuals", "url-based") or not pictures:
        words = next(iter(_script_parts(video.script or "")), video.title or "")
        scene = _scene(world, video, words, video.id, 0)
        video.poster = promise_picture(world, **scene, photographic=video.type == "b-roll")


def film_assets(world: World, video: Video) -> list[dict[str, Any]]:
    """The assets as the maker of the film takes them."""
    return [_film_asset(world, asset) for asset in video.assets if asset.used]


def _film_asset(world: World, asset: Asset) -> dict[str, Any]:
    described: dict[str, Any] = {"seed": asset.id * 7 + asset.roll, "roll": asset.roll}
    if asset.source == "generated":
        return described
    still = world.stills.get(asset.file)
    if still is not None and still.description is not None:
        return described | {"still": still.description}
    return described | {"file": asset.file}


def _script_parts(script: str) -> list[str]:
    """The script in parts of whole sentences, each worth a picture."""
    words = max(WORDS_PER_SCENE, math.ceil(count_spoken_words(script) / MAX_SCENES) + 1)
    parts: list[str] = []
    for sentence in filter(None, map(str.strip, _SENTENCE.split(script))):
        if parts and count_spoken_words(parts[-1]) < words:
            parts[-1] = f"{parts[-1]} {sentence}"
        else:
            parts.append(sentence)
    return parts


def _described(world: World, shown: PagePicture) -> dict[str, Any]:
    return {
        "text": shown.text,
        "genre": "nature-documentary",
        "seed": world.named_random_source(f"picture/{shown.url}").getrandbits(32),
        "photographic": True,
    }


def _scene(world: World, video: Video, text: str, asset_id: int, roll: int) -> dict[str, Any]:
    chosen = record.video_settings(video)
    return {
        "text": text,
        "genre": genre_slug(chosen["genre_id"]) or "cinematic",
        "aspect_ratio": chosen["aspect_ratio"] or "16:9",
        "seed": asset_id * 7 + roll,
    }


def _asset(
    world: World, source: Source, file: str, *, source_url: str | None = None, text: str = ""
) -> Asset:
    number = world.plausible_id("asset", 605_000)
    return Asset(id=number, source=source, source_url=source_url, text=text, file=file)


def _remove(kept: PictureStore, video: Video, asset: Asset) -> None:
    kept.remove(asset.file)
    video.assets.remove(asset)


def _pictures(call: ApiCall) -> PictureStore:
    pictures: PictureStore = call.request.app.state.studio.pictures
    return pictures


def _mark_changed(world: World, video: Video) -> None:
    video.updated_at = world.now
    world.videos.put(video)


def current_video(call: ApiCall) -> Video:
    """The call's video after a wait, in which the world may have been emptied."""
    video = call.world.videos.get(call.owned.id)
    if video is None or call.world.accounts.get(call.account.id) is not call.account:
        raise NotFound
    return video
