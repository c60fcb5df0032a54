// Picks a scene of the storyboard: a press on it, arrows, Home and End in the strip. What is typed in the panel is saved
// before another scene takes its place or the order changes, and no answer swaps a panel that somebody writes in.
(() => {
  const PHONE = "(width < 48rem)";
  const LEAVES = "[data-board] .scene, [data-pick], #arrange, #film-bar form, #rail form";
  const scenes = () => [...document.querySelectorAll("[data-board] .scene")];
  const form = () => document.getElementById("scene-form");
  const inPanel = () => document.getElementById(`scene-${form()?.dataset.scene ?? new URLSearchParams(location.search).get("scene")}`);
  const mark = (picked) => scenes().forEach((one) => (one === picked ? (one.ariaCurrent = "true") : one.removeAttribute("aria-current")));
  const reveal = (picked) => picked?.scrollIntoView({ block: "nearest", inline: "nearest" });

  function saveFirst(go) {
    const saver = form().querySelector("[data-saver]");
    saver.addEventListener("htmx:afterRequest", () => setTimeout(() => form()?.dataset.unsaved || go()), { once: true });
    htmx.trigger(saver, "resend");
  }

  document.addEventListener("DOMContentLoaded", () => matchMedia(PHONE).matches || reveal(document.querySelector(".scene[aria-current]")));
  document.addEventListener("htmx:confirm", (event) => {
    if (!event.target.matches(LEAVES) || !form()?.dataset.unsaved) return;
    event.preventDefault();
    if (form().dataset.unsaved === "refused") document.getElementById("refusal").scrollIntoView({ block: "center" });
    else saveFirst(() => event.detail.issueRequest(true));
  });
  document.addEventListener("htmx:afterSwap", ({ target, detail }) => {
    if (target.id !== "panel" || !detail.boosted) return;
    mark(inPanel());
    reveal(inPanel());
    if (matchMedia(PHONE).matches) target.scrollIntoView({ block: "start" });
  });
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { target: part, fragment } = event.detail;
    const isSame = fragment.querySelector?.("#scene-form")?.dataset.scene === form()?.dataset.scene;
    const isWritten = form()?.dataset.unsaved || (isSame && form()?.contains(document.activeElement));
    if ((part.id === "panel" && isWritten) || part.querySelector("[data-plays]")) event.detail.shouldSwap = false;
  });
  document.addEventListener("htmx:oobAfterSwap", () => inPanel() && mark(inPanel())); // an answer may be older than the pick
  document.addEventListener("htmx:afterRequest", ({ target, detail }) => { // what was kept over somebody else's
    if (detail.successful && target.name === "overwrite" && document.querySelector("#refusal[hidden]")) delete form().dataset.unsaved;
  });
  document.addEventListener("keydown", (event) => {
    const [place, last] = [scenes().indexOf(event.target), scenes().length - 1];
    const steps = { ArrowLeft: place - 1, ArrowUp: place - 1, ArrowRight: place + 1, ArrowDown: place + 1, Home: 0, End: last };
    if (place < 0 || event.altKey || event.ctrlKey || event.metaKey || !(event.key in steps)) return;
    event.preventDefault();
    const next = scenes()[steps[event.key]];
    next?.focus();
    next?.click();
  });
})();
