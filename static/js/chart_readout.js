// Shows the values of a chart's column in the line below it: under the pointer, and with the arrow keys when the chart
// has the focus. [data-chart="id of the line"] holds svg[tabindex] with g.day[data-says]; without script there is a table.
(() => {
  const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

  function parts(target) {
    const chart = target.closest?.("[data-chart]");
    return chart && { chart, line: document.getElementById(chart.dataset.chart), days: [...chart.querySelectorAll(".day")] };
  }

  function choose({ chart, line, days }, day) {
    days.forEach((one) => one.toggleAttribute("data-on", one === day));
    line.dataset.rest ??= line.textContent;
    line.textContent = day ? day.dataset.says : line.dataset.rest;
  }

  document.addEventListener("keydown", (event) => {
    const found = event.target.matches?.("[data-chart] > svg") ? parts(event.target) : null;
    if (!found?.days.length) return;
    const last = found.days.length - 1;
    const now = found.days.findIndex((day) => day.hasAttribute("data-on"));
    const next = { Home: 0, End: last, Escape: -1 }[event.key] ?? (event.key in STEPS ? (now < 0 ? last : now + STEPS[event.key]) : null);
    if (next === null) return;
    event.preventDefault();
    choose(found, event.key === "Escape" ? null : found.days[Math.min(last, Math.max(0, next))]);
  });

  document.addEventListener("pointerover", (event) => {
    const found = parts(event.target);
    const day = event.target.closest?.(".day");
    if (found && day) choose(found, day);
  });

  document.addEventListener("pointerout", (event) => {
    const found = parts(event.target);
    if (found && !found.chart.contains(event.relatedTarget)) choose(found, null);
  });

  document.addEventListener("focusout", (event) => {
    const found = event.target.matches?.("[data-chart] > svg") ? parts(event.target) : null;
    if (found) choose(found, null);
  });
})();
