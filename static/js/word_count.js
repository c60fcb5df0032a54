// Counts the words of textarea[data-count] while typing: "151 of 3,000 words, 60 s" at the end of the label. data-count
// is the maximum of words, if there is one, data-characters of characters, shown once it is near; the server checks both.
// Without data-characters it is no text to be spoken: its words alone are shown.
(() => {
  const WORDS_A_SECOND = 2.5;
  const NEAR = 0.8;
  // As count_words in proxyapi/models/duration_class.py: characters in the time of one word, in scripts without spaces.
  const UNSPACED = [
    [/[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/gu, 2],
    [/[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]/gu, 5],
  ];

  const of = (count, most) => `${count.toLocaleString("en")} of ${most.toLocaleString("en")}`;

  function span(seconds) {
    if (seconds <= 90) return `${seconds} s`;
    const rest = seconds % 60;
    return `${Math.floor(seconds / 60)} min${rest ? ` ${String(rest).padStart(2, "0")} s` : ""}`;
  }

  function wordsIn(text) {
    const counts = UNSPACED.map(([characters, perWord]) => Math.ceil((text.match(characters) || []).length / perWord));
    const spaced = UNSPACED.reduce((rest, [characters]) => rest.replace(characters, " "), text).split(/\s+/);
    return counts[0] + counts[1] + spaced.filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  }

  function count(area) {
    const label = document.getElementById(`${area.id}_limit`);
    if (!label) return;
    const words = wordsIn(area.value);
    const most = Number(area.dataset.count);
    const characters = [...area.value.trim()].length;
    const longest = Number(area.dataset.characters);
    const length = characters > NEAR * longest ? `${of(characters, longest)} characters` : span(Math.round(words / WORDS_A_SECOND));
    const total = most ? of(words, most) : words.toLocaleString("en");
    label.textContent = `${total} word${!most && words === 1 ? "" : "s"}${area.dataset.characters ? `, ${length}` : ""}`;
    label.toggleAttribute("data-over", (most && words > most) || characters > longest);
  }

  const countAll = (root) => root.querySelectorAll?.("textarea[data-count]").forEach(count);

  document.addEventListener("input", (event) => {
    if (event.target.matches("textarea[data-count]")) count(event.target);
  });
  document.addEventListener("DOMContentLoaded", () => countAll(document));
  document.addEventListener("htmx:load", (event) => countAll(event.target));
})();
