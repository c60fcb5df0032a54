// The chosen file of a form[data-media-drop]: its name, size and picture are shown before it is sent, a file can be
// dropped on its field, and the part that was sent is shown. The picture is drawn
// on a canvas, because the page's policy loads no images from memory.
(() => {
  const MEGABYTE = 1024 ** 2;

  const formOf = (event) => event.target.closest?.("form[data-media-drop]");

  async function show(form) {
    const file = form.elements.file.files[0];
    const [name, size, canvas] = ["[data-name]", "[data-size]", "[data-preview]"].map((part) => form.querySelector(part));
    if (!file) return;
    name.textContent = file.name;
    size.textContent = file.size < MEGABYTE / 10 ? `${Math.ceil(file.size / 1024)} kB` : `${(file.size / MEGABYTE).toFixed(1)} MB`;
    const picture = await createImageBitmap(file).catch(() => null);
    canvas.hidden = !picture;
    form.querySelector("[data-shown]")?.toggleAttribute("hidden", Boolean(picture));
    if (!picture) return;
    size.textContent = `${picture.width} × ${picture.height}, ${size.textContent}`;
    const scale = Math.max(canvas.width / picture.width, canvas.height / picture.height);
    const [wide, high] = [picture.width * scale, picture.height * scale];
    canvas.getContext("2d").drawImage(picture, (canvas.width - wide) / 2, (canvas.height - high) / 2, wide, high);
    picture.close();
  }

  document.addEventListener("change", (event) => event.target.name === "file" && formOf(event) && show(formOf(event)));
  for (const name of ["dragover", "drop"]) {
    document.addEventListener(name, (event) => {
      const drop = event.target.closest?.("[data-media-drop] [data-drop]");
      if (!drop) return;
      event.preventDefault();
      if (name === "dragover" || !event.dataTransfer.files.length) return;
      const form = formOf(event);
      form.elements.file.files = event.dataTransfer.files;
      form.elements.file.dispatchEvent(new Event("change", { bubbles: true })); // file_limit.js hears it first
    });
  }
  document.addEventListener("htmx:xhr:progress", (event) => {
    const bar = formOf(event)?.querySelector("[data-sent]");
    if (!bar || !event.detail.lengthComputable) return;
    bar.hidden = false;
    bar.value = Math.round((100 * event.detail.loaded) / event.detail.total);
  });
})();
