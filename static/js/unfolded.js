// What a reader has chosen stays so when the part of the page around it is fetched anew: details with an id that are
// unfolded, and the column whose values a chart tells.
(() => {
  let open = [];
  let told = [];

  const days = (id) => [...document.querySelectorAll(`[data-chart="${id}"] .day`)];

  function keep(part) {
    open = [...part.querySelectorAll("details[id][open]")].map((details) => details.id);
    told = [...part.querySelectorAll("[data-chart] .day[data-on]")].map((day) => {
      const id = day.closest("[data-chart]").dataset.chart;
      return [id, days(id).indexOf(day)];
    });
  }

  function restore() {
    open.splice(0).forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
    told.splice(0).forEach(([id, place]) => {
      days(id)[place]?.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
    });
  }

  document.addEventListener("htmx:beforeSwap", (event) => keep(event.detail.target));
  document.addEventListener("htmx:afterSwap", restore);
})();
