// Keeps what the reader chose when a fragment around it is swapped: open details and menus with an id, the selected column
// of a chart, and the focus (htmx keeps it only for elements with an id).
(() => {
  const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";
  const kept = [];

  const days = (id) => [...document.querySelectorAll(`[data-chart="${id}"] .day`)];

  function sign(control) {
    const says = control.getAttribute("href") ?? `${control.name}=${control.value} ${control.textContent.trim()}`;
    return `${control.tagName} ${says}`;
  }

  function twins(control) {
    const wanted = sign(control);
    return [...document.querySelectorAll(CONTROLS)].filter((one) => sign(one) === wanted);
  }

  function keep(part) {
    const selectedDays = [...part.querySelectorAll("[data-chart] .day[data-on]")].map((day) => {
      const id = day.closest("[data-chart]").dataset.chart;
      return [id, days(id).indexOf(day)];
    });
    const active = document.activeElement;
    const held = !active.id && part.contains(active);
    kept.push({
      open: [...part.querySelectorAll("details[id][open]")].map((details) => details.id),
      menus: [...part.querySelectorAll(":popover-open")].map((menu) => menu.id),
      selectedDays,
      focus: held ? [active, twins(active).indexOf(active)] : null,
    });
  }

  function restore({ open, menus, selectedDays, focus }) {
    open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
    menus.forEach((id) => document.querySelector(`#${id}:not(:popover-open)`)
      ?.showPopover({ source: document.querySelector(`[popovertarget=${id}]`) })); // it lies beside its button
    selectedDays.forEach(([id, place]) => {
      days(id)[place]?.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
    });
    if (focus && document.activeElement === document.body) twins(focus[0])[focus[1]]?.focus({ preventScroll: true });
  }

  for (const name of ["htmx:beforeSwap", "htmx:oobBeforeSwap", "live:beforeSwap"]) {
    document.addEventListener(name, ({ detail }) => detail.shouldSwap !== false && keep(detail.target));
  }
  // One answer may lay several parts; the first event of them must not use up what the next ones need.
  document.addEventListener("htmx:oobAfterSwap", () => kept.forEach(restore));
  document.addEventListener("htmx:afterSwap", () => kept.splice(0).forEach(restore));
})();
