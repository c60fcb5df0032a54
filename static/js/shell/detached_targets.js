// Handles an answer whose target was replaced meanwhile. If the request came from outside the target, such as a filter, or
// from a link in it that went with it, the element that now has the target's id is swapped, unless the answer to a later
// request of that kind is there. Any other answer, such as one that the target had requested itself, is dropped. htmx looks
// for the targets of out-of-band parts beside the element that sent the request, which may be gone: here, in the whole page.
(() => {
  const shown = new Map(); // by the id of a target: the number of the request that was answered last
  let requests = 0;

  function settle({ detail }) {
    const { target, requestConfig } = detail;
    const { elt, number } = requestConfig;
    const isChosen = elt !== target && (elt.isConnected || elt.matches("a[href]"));
    const isOutdated = shown.get(target.id) > number;
    const current = isChosen && !isOutdated && target.id && document.getElementById(target.id);
    detail.shouldSwap = Boolean(current);
    if (!current) return;
    detail.target = current;
    shown.set(target.id, number);
    searchWholePage(elt);
  }

  function searchWholePage(elt) {
    elt.getRootNode = () => document;
    queueMicrotask(() => delete elt.getRootNode); // htmx asks it, too, whether the element is still in the page
  }

  // Looked at when it is laid, which a press may put off (swap_timing.js, which comes after this).
  document.addEventListener("htmx:beforeSend", ({ detail: { xhr, target, requestConfig } }) => {
    const load = xhr.onload;
    requestConfig.number = ++requests;
    xhr.onload = () => {
      if (!target.isConnected) target.addEventListener("htmx:beforeSwap", settle); // hears it itself: no page is above it
      load.call(xhr);
    };
  });
  document.addEventListener("htmx:beforeSwap", ({ detail: { target, requestConfig, shouldSwap } }) => {
    if (shouldSwap && requestConfig.elt !== target) shown.set(target.id, requestConfig.number);
    searchWholePage(requestConfig.elt);
  });
})();
