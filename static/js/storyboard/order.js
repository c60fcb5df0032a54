// The order of the scenes: the menu of a grip says of which scene it is, Alt + arrows move the scene that has the focus,
// Delete deletes it. The form #arrange is sent; its answer says what happened and where the focus goes.
(() => {
  const MOVES = { ArrowLeft: "left", ArrowUp: "left", ArrowRight: "right", ArrowDown: "right" };
  const form = () => document.getElementById("arrange");
  const tiles = () => [...document.querySelectorAll("[data-board] > li")];
  const idOf = (tile) => tile.id.replace("tile-", "");

  function choose(tile) {
    form().elements.moved.value = idOf(tile);
    const [place, number] = [tiles().indexOf(tile), tile.querySelector("b").textContent];
    document.getElementById("scene-menu").setAttribute("aria-label", `Scene ${number}`);
    const set = (action, isOff) => (form().querySelector(`[value=${action}]`).disabled = isOff);
    set("left", place === 0);
    set("right", place === tiles().length - 1);
  }

  function send(tile, action) {
    choose(tile);
    const button = form().querySelector(`[value=${action}]`);
    button.disabled = false; // at an end the answer says so
    button.click(); // htmx knows which button was pressed by its click alone
  }

  document.addEventListener("click", ({ target }) => {
    const grip = target.closest?.(".grip");
    if (grip) choose(grip.closest("li"));
    if (target.closest?.("[data-scene-menu] button")) document.getElementById("scene-menu").hidePopover();
  }, true);
  document.addEventListener("keydown", (event) => {
    const tile = event.target.matches?.("[data-board] .scene") && event.target.closest("li");
    const action = event.key === "Delete" ? "delete" : event.altKey && MOVES[event.key];
    if (!form() || !tile || !action) return; // a reader has no form
    event.preventDefault();
    send(tile, action);
  });
  document.addEventListener("scene:drop", ({ target, detail }) => {
    form().elements.to.value = detail;
    send(target, "move");
  });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    const said = document.getElementById("board-said");
    if (!detail.successful || !said.dataset.focus) return;
    const focused = document.getElementById(said.dataset.focus);
    delete said.dataset.focus;
    focused?.focus();
    focused?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
})();
