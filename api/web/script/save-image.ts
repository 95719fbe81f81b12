import type { Picture } from "./draw-picture.js";

/** What a drawing takes from the page's styles, and a file has to say by itself. */
const PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "display",
  "font-family",
  "font-size",
  "vector-effect",
  "paint-order",
];
const MARGIN = 48;

/** Saves the chart beside a button of `data-image` as a file of its own, or copies it. */
export function saveImages(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-image]")) {
    const figure = button.closest("figure");
    if (!figure?.querySelector("svg.plot")) continue;
    button.hidden = false;
    button.addEventListener("click", () => {
      if (button.dataset["image"] === "svg") return download(svgOf(pictureOf(figure)), "svg");
      void import("./draw-picture.js").then(({ drawPicture }) =>
        pass(button, drawPicture(pictureOf(figure))),
      );
    });
  }
}

/** Copies a picture where the browser can: on pages by https, or from this machine. Else it is saved. */
async function pass(button: HTMLButtonElement, picture: Promise<Blob>): Promise<void> {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
    button.textContent = "Copied";
  } catch {
    download(await picture, "png");
  }
}

function pictureOf(figure: HTMLElement): Picture {
  const drawings = [...figure.querySelectorAll<SVGSVGElement>("svg.marks, svg.plot")];
  const boxes = drawings.map((each) => each.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map(({ x }) => x)), Math.min(...boxes.map(({ y }) => y))];
  const panel = figure.closest(".panel") ?? document.body;
  return {
    drawings,
    box: {
      x: left - MARGIN,
      y: top - MARGIN / 2,
      width: Math.max(...boxes.map(({ right }) => right)) - left + 2 * MARGIN,
      height: Math.max(...boxes.map(({ bottom }) => bottom)) - top + MARGIN,
    },
    ground: getComputedStyle(panel).backgroundColor,
  };
}

function svgOf({ drawings, box, ground }: Picture): Blob {
  const made = (name: string, attributes: object) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    return element;
  };
  const { width, height } = box;
  const frame = made("svg", { viewBox: Object.values(box).join(" "), width, height });
  frame.append(made("rect", { ...box, fill: ground }), ...drawings.map(copyOf));
  return new Blob([new XMLSerializer().serializeToString(frame)], { type: "image/svg+xml" });
}

/** Where it stands in the page, and as wide: parts of the width are parts of this box. */
function copyOf(drawing: SVGSVGElement): SVGSVGElement {
  const { x, y, width } = drawing.getBoundingClientRect();
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const drawn = [...drawing.querySelectorAll("*")];
  for (const [index, element] of [...copy.querySelectorAll("*")].entries()) {
    const style = getComputedStyle(drawn[index] as Element);
    for (const name of PROPERTIES) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  }
  for (const [name, value] of Object.entries({ x, y, width, overflow: "visible" }))
    copy.setAttribute(name, String(value));
  return copy;
}

function download(file: Blob, ending: "svg" | "png"): void {
  const href = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href, download: `${document.title}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
