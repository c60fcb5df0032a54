// A file that is larger than its field takes is named at once and not chosen, so that nothing of it is sent. The limit in
// bytes stands around the field. Drops of files tell of a change as well.
(() => {
  const MEGABYTE = 1024 ** 2;

  window.addEventListener("change", (event) => {
    const input = event.target;
    const limits = input.type === "file" ? input.closest("[data-max-bytes], [data-media-drop]")?.dataset : null;
    const most = Number(limits?.maxBytes ?? limits?.mediaDrop ?? Infinity);
    const large = [...(input.files ?? [])].find((file) => file.size > most);
    if (!large) return;
    event.stopImmediatePropagation();
    input.value = "";
    const says = `“${large.name}” has ${Math.ceil(large.size / MEGABYTE)} MB. At most ${most / MEGABYTE} MB are taken. Nothing was sent.`;
    document.dispatchEvent(new CustomEvent("toast:say", { detail: { says, mark: "failed", about: input } }));
  }, true);
})();
