// A part that pushes would replace more than once a second, or before it has fetched what depends on its reader, is
// replaced by the newest of them afterwards.
(() => {
  const EVERY = 1000; // ms
  const resting = new Map(); // by id: the newest push that waits, or null

  function rest(id) {
    setTimeout(() => {
      const part = document.getElementById(id);
      if (part?.matches(".htmx-request, :has(.htmx-request)")) return rest(id);
      const fresh = resting.get(id);
      resting.delete(id);
      if (fresh) document.dispatchEvent(new CustomEvent("live:news", { detail: fresh.outerHTML }));
    }, EVERY);
  }

  document.addEventListener("live:pace", (event) => {
    const fresh = event.detail;
    if (resting.has(fresh.id)) event.preventDefault();
    else rest(fresh.id);
    resting.set(fresh.id, event.defaultPrevented ? fresh : null);
  });
})();
