// An open filter sheet on a phone, or the date fields of the ledger, keep what is being chosen while the list is swapped;
// only their hidden fields follow. A sheet that is closed without being submitted is reset.
(() => {
  document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
    const { target, fragment } = detail;
    const was = (day) => fragment.querySelector(`[name=${day.name}]`)?.defaultValue === day.defaultValue;
    const isChosen = [...target.querySelectorAll("[type=date]")].some((day) => day.value !== day.defaultValue && was(day));
    if (!isChosen && !target.matches("#filters[open] *, #ledger-dates:focus-within")) return;
    detail.shouldSwap = false;
    target.querySelector("[hidden]").replaceWith(fragment.querySelector("[hidden]"));
  });
  // What was chosen beside it a moment ago is in it when it opens, though the list is still on its way.
  document.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-dialog=filters]")) return;
    for (const chip of document.querySelectorAll("select[id^=chip-]")) {
      const twin = document.getElementById(chip.id.replace("chip-", "sheet-"));
      if ([...(twin?.options ?? [])].some((one) => one.value === chip.value)) twin.value = chip.value;
    }
  });
  document.addEventListener("close", ({ target }) => target.id === "filters" && target.querySelector("form").reset(), true);
})();
