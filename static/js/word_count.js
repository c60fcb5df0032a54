// Counts the words of textarea[data-count] while typing: "151 of 3,000 words, 60 s" at the end of the label. data-count
// is the maximum of words, data-characters of characters, shown once it is near; the server checks both as well.
(() => {
  const WORDS_A_SECOND = 2.5;

  const NEAR = 0.8;

  function of(count, most) {
    return `${count.toLocaleString("en")} of ${most.toLocaleString("en")}`;
  }

  function span(seconds) {
    if (seconds <= 90) return `${seconds} s`;
    const rest = seconds % 60;
    return `${Math.floor(seconds / 60)} min${rest ? ` ${String(rest).padStart(2, "0")} s` : ""}`;
  }

  function count(area) {
    const label = document.getElementById(`${area.id}_limit`);
    if (!label) return;
    const words = (area.value.match(/\S+/g) || []).length;
    const most = Number(area.dataset.count);
    const characters = [...area.value.trim()].length;
    const longest = Number(area.dataset.characters);
    const length = characters > NEAR * longest ? `${of(characters, longest)} characters` : span(Math.round(words / WORDS_A_SECOND));
    label.textContent = `${of(words, most)} words, ${length}`;
    label.toggleAttribute("data-over", words > most || characters > longest);
  }

  function countAll(root) {
    root.querySelectorAll?.("textarea[data-count]").forEach(count);
  }

  document.addEventListener("input", (event) => {
    if (event.target.matches("textarea[data-count]")) count(event.target);
  });
  document.addEventListener("DOMContentLoaded", () => countAll(document));
  document.addEventListener("htmx:load", (event) => countAll(event.target));
})();
