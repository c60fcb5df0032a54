// What a reader has unfolded stays so when the part of the page around it is fetched anew: details with an id.
(() => {
  let open = [];

  document.addEventListener("htmx:beforeSwap", (event) => {
    open = [...event.detail.target.querySelectorAll("details[id][open]")].map((details) => details.id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
    open = [];
  });
})();
