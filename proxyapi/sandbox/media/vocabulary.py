"""Words that call a motif: stems in English, German, French, Spanish and Portuguese."""

from __future__ import annotations


def _stems(**rows: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(row.split()) for name, row in rows.items()}


SETTING_WORDS = _stems(
    underwater="underwater undersea reef coral seabed seafloor abyss unterwasser riff recif arrecife recife kelp",
    sea="sea ocean wave coast shore beach harbor harbour tide storm sail island meer kuste welle strand sturm mer vague cote plage mar ola costa playa onda praia mare",
    ice="ice glacier iceberg arctic antarctic polar frozen gletscher eis glace glaciar hielo geleira gelo",
    mountains="mountain alps summit peak cliff berg gipfel montagne sommet montana cumbre montanha climb himalaya valley",
    forest="forest woods jungle woodland wald foret bosque selva floresta",
    desert="desert dune sahara sand wuste dunes desierto deserto",
    city="city town street skyline urban tower tokyo york london paris berlin stadt strasse ville rue ciudad calle cidade rua office market building",
    moon="moon lunar mond lune luna crater apollo",
    space="space galaxy universe orbit cosmos star astronaut weltraum weltall espace espacio espaco planet mars jupiter saturn",
    hills="meadow field farm countryside grass garden village hill spring wiese feld champ campo prado colline garten jardin",
    room="room table kitchen desk home school library house classroom zimmer tisch kuche haus maison cuisine casa cocina mesa cozinha",
)
SUBJECT_WORDS = _stems(
    lighthouse="lighthouse leuchtturm phare faro farol keeper beacon",
)
HOUR_WORDS = _stems(
    night="night midnight dark star moon dream sleep nacht dunkel nuit noche noite sueno reve traum",
    dusk="sunset dusk evening dawn sunrise twilight abend dammerung soir aube tarde atardecer amanhecer",
    day="day noon morning afternoon daylight sunny tag morgen jour matin dia manana manha",
)
WEATHER_WORDS = _stems(
    snow="snow winter blizzard schnee neige nieve neve ice",
    rain="rain storm thunder regen sturm pluie orage lluvia tormenta chuva",
    sparks="fire flame lava ember feuer feu fuego fogo volcano",
    petals="petal blossom spring bloom",
)
