/** A chart as it is seen: its drawing, and above it the marks of its notes, where it has some. */
export interface Picture {
  drawings: readonly SVGSVGElement[];
  /** In the page, with a margin. */
  box: { x: number; y: number; width: number; height: number };
  ground: string;
}

/** Pixels of the picture for each of the page: sharp also where it is shown larger. */
const SCALE = 2;

/** Draws a chart as PNG, shape by shape: the page's policy loads no picture that the service does not send. */
export async function drawPicture({ drawings, box, ground }: Picture): Promise<Blob> {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: box.width * SCALE, height: box.height * SCALE });
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.scale(SCALE, SCALE);
  context.fillStyle = ground;
  context.fillRect(0, 0, box.width, box.height);
  context.translate(-box.x, -box.y);
  for (const shape of drawings.flatMap((each) => [...each.querySelectorAll("*")]))
    if (getComputedStyle(shape).display !== "none") drawShape(context, shape);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error("The chart could not be drawn.")) : resolve(blob)),
      "image/png",
    );
  });
}

function drawShape(context: CanvasRenderingContext2D, shape: Element): void {
  const style = getComputedStyle(shape);
  const isText = shape instanceof SVGTextElement;
  if (!isText && !(shape instanceof SVGGeometryElement)) return;
  context.save();
  context.lineWidth = parseFloat(style.strokeWidth);
  context.lineCap = style.strokeLinecap as CanvasLineCap;
  context.setLineDash(
    style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(",").map(parseFloat),
  );
  context.globalAlpha = Number(style.opacity);
  if (isText) drawText(context, shape, style);
  else drawOutline(context, shape, style);
  context.restore();
}

/** Places in the page: a drawing is stretched to its box, its lines are not. */
function drawOutline(
  context: CanvasRenderingContext2D,
  shape: SVGGeometryElement,
  style: CSSStyleDeclaration,
): void {
  const outline = new Path2D();
  outline.addPath(outlineOf(shape), shape.getScreenCTM() as DOMMatrix);
  paint(style.stroke, (color) => {
    context.strokeStyle = color;
    context.stroke(outline);
  });
  context.globalAlpha *= Number(style.fillOpacity);
  paint(style.fill, (color) => {
    context.fillStyle = color;
    context.fill(outline);
  });
}

function outlineOf(shape: SVGGeometryElement): Path2D {
  const path = new Path2D(shape.getAttribute("d") ?? undefined);
  const { x, y, width, height } = shape.getBBox();
  if (shape instanceof SVGLineElement) {
    path.moveTo(shape.x1.baseVal.value, shape.y1.baseVal.value);
    path.lineTo(shape.x2.baseVal.value, shape.y2.baseVal.value);
  } else if (shape instanceof SVGRectElement) path.rect(x, y, width, height);
  else if (shape instanceof SVGCircleElement)
    path.arc(x + width / 2, y + height / 2, width / 2, 0, 2 * Math.PI);
  return path;
}

/** With its halo below it, as on the page. */
function drawText(context: CanvasRenderingContext2D, text: SVGTextElement, style: CSSStyleDeclaration): void {
  const { a, e, f } = text.getScreenCTM() as DOMMatrix;
  const [x, y] = [e + a * text.getBBox().x, f + a * (text.y.baseVal[0]?.value ?? 0)];
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.lineJoin = "round";
  const words = text.textContent ?? "";
  paint(style.stroke, (color) => {
    context.strokeStyle = color;
    context.strokeText(words, x, y);
  });
  paint(style.fill, (color) => {
    context.fillStyle = color;
    context.fillText(words, x, y);
  });
}

function paint(color: string, draw: (color: string) => void): void {
  if (color !== "none") draw(color);
}
