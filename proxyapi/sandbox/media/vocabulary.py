"""Words that call a motif: stems in English, German, French, Spanish and Portuguese."""

from __future__ import annotations


def _stems(**rows: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(row.split()) for name, row in rows.items()}


SETTING_WORDS = _stems(
    underwater="underwater undersea reef coral seabed seafloor abyss unterwasser recif arrecife",
    sea="""sea ocean wave coast shore beach harbor harbour tide sail sailor island lake river water
        meer kuste welle strand mer vague plage ola costa playa onda praia oceano""",
    ice="ice glacier iceberg arctic antarctic polar frozen gletscher eis glace glaciar hielo gelo",
    mountains="""mountain alps summit peak cliff valley climb hike berg gipfel montagne sommet
        montana cumbre montanha himalaya""",
    forest="forest woods jungle woodland wald foret bosque selva floresta",
    desert="desert dune sahara sand camel wuste desierto deserto",
    city="""city cities town street skyline urban tower office market traffic tokyo york london
        paris berlin lisbon stadt strasse ville ciudad calle cidade rua company business""",
    moon="moon lunar mond lune luna crater apollo",
    space="""space galaxy universe orbit cosmos cosmic asteroid comet weltraum weltall espace
        espacio espaco mars jupiter saturn""",
    hills="""meadow field farm farmer countryside grass garden village hill spring wiese feld
        champ campo prado colline garten jardin bauer""",
    room="""room table kitchen desk home school library classroom study zimmer tisch kuche ecole
        maison cuisine casa cocina mesa cozinha schule escuela escola""",
)
SUBJECT_WORDS = _stems(
    lighthouse="lighthouse lamp leuchtturm phare faro farol keeper beacon lantern",
    boat="boat ship sail sailor captain harbor harbour boot schiff bateau barco navire fisherman",
    train="train railway station locomotive zug bahn tren trem subway metro",
    rocket="rocket spaceship spacecraft launch rakete fusee cohete foguete apollo nasa",
    balloon="balloon ballon globo balao adventure",
    plane="plane airplane aircraft flight airport pilot flugzeug avion aviao travel",
    car="car driver road engine vehicle voiture coche carro electric highway",
    octopus="octopus squid tentacle krake tintenfisch pieuvre pulpo",
    whale="whale dolphin shark wal baleine ballena baleia delfin",
    fish="fish coral aquarium fisch poisson pez peces peixe salmon tuna",
    bird="bird eagle gull swallow wing owl vogel vogel oiseau pajaro passaro raven feather",
    cat="cat kitten katze gato pet",
    fox="fox wolf dog puppy animal fuchs hund renard chien zorro perro raposa cachorro deer",
    bee="bee honey hive bumblebee insect pollen biene abeille abeja abelha butterfly",
    bear="bear panda polar oso urso penguin",
    book="""book story stories page novel writer read reader library letter history buch geschichte
        livre histoire libro historia livro paper poem""",
    bulb="idea bulb invention inventor electricity imagine think mind creative idee",
    clock="clock hour minute watch uhr zeit temps heure tiempo reloj tempo relogio",
    computer="""computer laptop code coding software internet data program developer digital
        ordinateur ordenador computador website algorithm screen""",
    robot="robot machine artificial intelligence automation roboter robotica android",
    camera="camera photo photograph film movie video picture kamera appareil foto cinema",
    coins="""coin money bank dollar euro rich wealth saving invest price budget geld argent
        dinero dinheiro gold""",
    chart="chart growth market stock percent number statistics economy profit wachstum sales",
    guitar="guitar music song melody concert musik lied musique chanson musica cancion violin",
    heart="heart love health kind friendship herz liebe coeur amour corazon amor coracao",
    cup="coffee tea cup mug espresso breakfast kaffee tee cafe taza",
    bread="bread bake baker oven dough brot pao sourdough flour",
    bowl="food fruit apple soup meal recipe cook eat essen obst comida fruta dinner taste",
    tree="tree oak leaf root branch seed baum arbre arbol arvore autumn",
    flower="flower rose tulip petal bloom blume fleur flor garden",
    mushroom="mushroom fungus fungi pilz champignon cogumelo moss fairy",
    house="house home cabin cottage haus maison casa village family",
    castle="castle king queen knight prince princess dragon schloss chateau castillo castelo",
    bridge="bridge brucke pont puente ponte river",
    volcano="volcano lava eruption vulkan volcan vulcao magma",
    walker="""walk walker hiker wanderer traveler traveller explorer journey boy girl man woman
        person hero child mensch homme femme hombre mujer""",
    friends="""people team friend family children together community crowd students teacher leute
        menschen gens amis gente amigos equipo equipe""",
    astronaut="astronaut cosmonaut spacewalk armstrong astronauta astronaute",
    world="world earth planet erde welt monde terre mundo tierra terra climate",
)
HOUR_WORDS = _stems(
    night="night midnight dark star moon dream sleep asleep nacht dunkel nuit noche noite sueno",
    dusk="sunset dusk evening dawn sunrise twilight abend dammerung soir aube atardecer",
    day="day noon morning afternoon daylight sunny tag morgen jour matin dia manana manha",
)
WEATHER_WORDS = _stems(
    snow="snow winter blizzard schnee neige nieve neve ice",
    rain="rain storm thunder regen sturm pluie orage lluvia tormenta chuva",
    sparks="fire flame lava ember feuer feu fuego fogo volcano",
    petals="petal blossom spring bloom",
)
