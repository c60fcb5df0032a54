// Swaps a bundle of fragments: each element replaces the one with the same id, if the page has it. A film that is
// playing stays (data-take, data-plays), and one that is replaced too often waits (push_pace.js).
(() => {
  const otherStates = new Map(); // the states of cards that this page does not show

  function place(html) {
    const bundle = new DOMParser().parseFromString(html, "text/html").body;
    let moved = false;
    for (const fresh of [...bundle.children]) {
      const old = document.getElementById(fresh.id);
      if (old && !old.dispatchEvent(new CustomEvent("live:pace", { bubbles: true, cancelable: true, detail: fresh }))) continue;
      const card = fresh.matches("[data-card]");
      const isNew = fresh.dataset.state !== (old ? old.dataset.state : otherStates.get(fresh.id));
      otherStates.set(fresh.id, fresh.dataset.state);
      moved ||= card && isNew;
      if (!old) continue;
      if (fresh.dataset.take !== undefined && fresh.dataset.take === old.dataset.take) continue;
      if (old.querySelector("[data-plays]")) continue;
      if (isNew) say(fresh.dataset.said);
      fresh.removeAttribute("hx-swap-oob");
      old.dispatchEvent(new CustomEvent("live:beforeSwap", { bubbles: true, detail: { target: old, fresh } }));
      htmx.swap(old, fresh.outerHTML, { swapStyle: "outerHTML", swapDelay: 0, settleDelay: 0 });
    }
    if (moved) document.dispatchEvent(new CustomEvent("live:moved")); // list_refresh.js
  }

  function say(text) {
    const region = document.getElementById("live-said");
    if (text && region && region.textContent !== text) region.textContent = text;
  }

  async function refetch(element) {
    const ours = JSON.parse(document.body.getAttribute("hx-headers"));
    const answer = await fetch(element.dataset.refetch, { headers: { ...ours, "HX-Request": "true" } });
    if (!answer.ok || answer.redirected) return;
    document.dispatchEvent(new CustomEvent("live:news", { detail: await answer.text() }));
  }

  document.addEventListener("live:news", (event) => place(event.detail));
  document.body.addEventListener("poll", () => {
    document.querySelectorAll("[data-refetch]").forEach((element) => refetch(element).catch(() => {}));
  });
})();
