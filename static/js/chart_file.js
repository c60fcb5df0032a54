// Saves the drawing of chart_picture.js: as SVG, or with data-chart-file="png" as PNG of twice its size. The addresses are data:,
// which the pages' policy allows for pictures.
(() => {
  async function png(src) {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png");
  }

  document.addEventListener("chart:picture", async ({ target, detail: { root, title } }) => {
    const type = target.closest("[data-chart-file]").dataset.chartFile;
    const name = title.toLowerCase().replaceAll(/\W+/g, "-");
    const svg = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(root))}`;
    const href = type === "png" ? await png(svg) : svg;
    const today = new Date().toLocaleDateString("sv"); // as 2026-11-28, in the reader's time zone
    Object.assign(document.createElement("a"), { href, download: `${name}-${today}.${type}` }).click();
  });
})();
