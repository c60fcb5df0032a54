// Leaves the scenes unticked that were, when the list of clips is drawn anew
(() => {
  const unticked = new Set();

  function picks() {
    return document.querySelectorAll("[data-ticks] input[type=checkbox]");
  }

  document.addEventListener("change", ({ target }) => {
    if (!target.closest("[data-ticks]")) return;
    if (target.checked) unticked.delete(target.value);
    else unticked.add(target.value);
  });

  document.addEventListener("htmx:afterSettle", () => {
    const again = [...picks()].filter((pick) => pick.checked && unticked.has(pick.value));
    for (const pick of again) pick.checked = false;
    // The sum is that of all of them until it is asked for again.
    again[0]?.dispatchEvent(new Event("change", { bubbles: true }));
  });
})();
