// Rows that can be selected: counts them in their bar, selects all of them, or those from the last box on (Shift), clears
// them (Escape), and moves the focus to the first of the rows that were added. The form sends the ids also without this.
(() => {
  let [last, before] = [null, 0];

  const boxes = () => [...document.querySelectorAll("input[data-act]")];

  function count() {
    const [bar, all] = [document.querySelector("[data-selected-rows]"), document.querySelector("[data-select-all]")];
    if (!bar || !all) return;
    const number = boxes().filter((box) => box.checked).length;
    all.checked = number > 0 && number === boxes().length;
    all.indeterminate = number > 0 && !all.checked;
    bar.querySelector("[data-selected-count]").textContent = `${number} ${number === 1 ? "idea" : "ideas"} selected`;
    bar.querySelectorAll("[data-selected-act]").forEach((act) => {
      act.textContent = act.dataset.selectedAct.split("|")[number === 1 ? 0 : 1].replace("#", number);
    });
  }

  document.addEventListener("click", ({ target, shiftKey }) => {
    if (!target.matches("input[data-act]")) return;
    const [from, to] = [boxes().indexOf(last), boxes().indexOf(target)].sort((one, other) => one - other);
    if (shiftKey && from >= 0) boxes().slice(from, to).forEach((box) => (box.checked = target.checked));
    last = target;
  });
  document.addEventListener("change", ({ target }) => {
    if (target.matches("[data-select-all]")) boxes().forEach((box) => (box.checked = target.checked));
    count();
  });
  document.addEventListener("reset", () => setTimeout(count));
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && !document.querySelector("dialog[open]")) document.querySelector("form[data-selected-rows]")?.reset();
  });
  // While rows are selected, the list stays as it is, also if it was asked for before: a press would find none selected.
  ["htmx:beforeRequest", "htmx:beforeSwap"].forEach((name) => document.addEventListener(name, (event) => {
    const { elt, requestConfig } = event.detail;
    const isLive = requestConfig.triggeringEvent?.type.startsWith("reelroom:");
    if (isLive && elt.querySelector("input[data-act]:checked")) event.preventDefault();
  }));
  document.addEventListener("htmx:beforeSwap", () => (before = boxes().length));
  document.addEventListener("htmx:afterSwap", ({ detail: { requestConfig } }) => {
    if (requestConfig?.elt.matches("[data-more-rows]")) boxes()[before]?.focus();
    count();
  });
  document.addEventListener("DOMContentLoaded", count);
})();
