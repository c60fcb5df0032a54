// Handles an answer whose target was replaced meanwhile. If the request came from outside the target, such as a filter,
// the element that now has the target's id is swapped; an answer that the target had requested itself is dropped.
(() => {
  function settle({ detail }) {
    const { target, requestConfig } = detail;
    const isBeside = requestConfig.elt !== target && requestConfig.elt.isConnected;
    const heir = isBeside && target.id && document.getElementById(target.id);
    if (heir) detail.target = heir;
    else detail.shouldSwap = false;
  }

  // Looked at when it is laid, which a press may put off (swap_timing.js, which comes after this).
  document.addEventListener("htmx:beforeSend", ({ detail: { xhr, target } }) => {
    const load = xhr.onload;
    xhr.onload = () => {
      if (!target.isConnected) target.addEventListener("htmx:beforeSwap", settle); // hears it itself: no page is above it
      load.call(xhr);
    };
  });
})();
