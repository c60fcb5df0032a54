// An answer to a part that was replaced meanwhile. A press from beside it, such as a filter, is laid in what took its
// place; what the part itself had asked for is dropped.
(() => {
  function settle({ detail }) {
    const { target, requestConfig } = detail;
    const isBeside = requestConfig.elt !== target && requestConfig.elt.isConnected;
    const heir = isBeside && target.id && document.getElementById(target.id);
    if (heir) detail.target = heir;
    else detail.shouldSwap = false;
  }

  // Looked at when it is laid, which a press may put off (swaps.js, which comes after this).
  document.addEventListener("htmx:beforeSend", ({ detail: { xhr, target } }) => {
    const load = xhr.onload;
    xhr.onload = () => {
      if (!target.isConnected) target.addEventListener("htmx:beforeSwap", settle); // hears it itself: no page is above it
      load.call(xhr);
    };
  });
})();
