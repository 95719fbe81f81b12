import { describe, expect, test } from "vitest";
import { fieldsOf, artifactNotFound, targetOf } from "../../../../enrich/lines/decode-line.js";
import { chunkOf, PACKAGE_ID, PIXEL_ID } from "./chunk-of.js";

const OTHER = "33333333-2222-4333-8444-555555555555";
const forPackage = chunkOf("");
const forPixel = chunkOf("", { artifactKind: "pixel", artifactId: PIXEL_ID });
const forAny = chunkOf("", { artifactKind: "any", artifactId: "" });

const thePackage = { kind: "package", id: PACKAGE_ID };
const thePixel = { kind: "pixel", id: PIXEL_ID };
const missing = { class: "error", type: "missing-artifact" };
const noPackage = (id: string) => ({ class: "error", type: "artifact-not-found", packageId: id });
const noPixel = (id: string) => ({ class: "error", type: "artifact-not-found", pixelId: id });

const two = (message: string) => ({ class: "error", type: "invalid-value", message });
const BOTH = two("$package and $pixel cannot be combined");
const TWO_PIXELS = two("$pixel and $tracking_pixel name different pixels");
const docs = { ...thePixel, called: "docs" };

describe("targetOf", () => {
  test.each([
    ["the path's package", forPackage, {}, thePackage],
    ["the path's pixel", forPixel, {}, thePixel],
    ["the path's package repeated", forPackage, { $package: PACKAGE_ID }, thePackage],
    ["the path's package in capitals", forPackage, { $package: PACKAGE_ID.toUpperCase() }, thePackage],
    ["the path's package beside null", forPackage, { $package: null, $pixel: null }, thePackage],
    ["the path's pixel repeated", forPixel, { $pixel: PIXEL_ID }, thePixel],
    ["the path's pixel by its other name", forPixel, { $tracking_pixel: PIXEL_ID }, thePixel],
    ["the path's pixel by both names", forPixel, { $pixel: PIXEL_ID, $tracking_pixel: PIXEL_ID }, thePixel],
    ["a package of its own", forAny, { $package: PACKAGE_ID }, thePackage],
    ["a pixel of its own", forAny, { $pixel: PIXEL_ID }, thePixel],
    ["a pixel of its own by the other name", forAny, { $tracking_pixel: PIXEL_ID }, thePixel],
    ["a pixel beside a null package", forAny, { $package: null, $pixel: PIXEL_ID }, thePixel],
    ["a package by its name", forAny, { $package: "left-pad" }, { kind: "package", id: "left-pad" }],
    ["a pixel by its name", forAny, { $pixel: "docs" }, { kind: "pixel", id: "docs" }],
    ["the path's package, by its name", forPackage, { $package: "web" }, { ...thePackage, called: "web" }],
    ["a pixel by its id and its name", forAny, { $pixel: PIXEL_ID, $tracking_pixel: "docs" }, docs],
    ["the path's pixel, by its name twice", forPixel, { $pixel: "docs", $tracking_pixel: "docs" }, docs],
  ])("is %s", (_, chunk, line, target) => {
    expect(targetOf(fieldsOf(line), chunk)).toEqual(target);
  });

  test.each([
    ["nothing is named", forAny, {}, missing],
    ["only null is named", forAny, { $package: null, $pixel: null, $tracking_pixel: null }, missing],
    ["a line names another package than the path", forPackage, { $package: OTHER }, noPackage(OTHER)],
    ["a line names a pixel on a package's path", forPackage, { $pixel: PIXEL_ID }, noPixel(PIXEL_ID)],
    [
      "a pixel stands beside the path's package",
      forPackage,
      { $package: PACKAGE_ID, $pixel: PIXEL_ID },
      BOTH,
    ],
    [
      "a package stands beside the path's pixel",
      forPixel,
      { $package: PACKAGE_ID, $tracking_pixel: PIXEL_ID },
      BOTH,
    ],
    ["a line names a package on a pixel's path", forPixel, { $package: PACKAGE_ID }, noPackage(PACKAGE_ID)],
    ["a package has the pixel's id", forPixel, { $package: PIXEL_ID }, noPackage(PIXEL_ID)],
    ["two are named", forAny, { $package: PACKAGE_ID, $pixel: PIXEL_ID }, BOTH],
    ["the names of a pixel differ", forAny, { $pixel: PIXEL_ID, $tracking_pixel: OTHER }, TWO_PIXELS],
    ["an id is empty", forAny, { $package: "" }, noPackage("")],
    ["the path's pixel has two names", forPixel, { $pixel: "docs", $tracking_pixel: "home" }, TWO_PIXELS],
    ["a pixel is named on a package's path", forPackage, { $pixel: "docs" }, noPixel("docs")],
    ["an id is a number", forAny, { $pixel: 7 }, noPixel("7")],
    ["an id is nested", forAny, { $pixel: { id: PIXEL_ID } }, noPixel("{…}")],
    ["an id is long", forAny, { $package: "x".repeat(5000) }, noPackage(`${"x".repeat(100)}…`)],
    ["a name cannot be stored", forPackage, { $pixel: "a\0\ud800" }, noPixel("a \ufffd")],
  ])("is refused when %s", (_, chunk, line, fault) => {
    expect(targetOf(fieldsOf(line), chunk)).toMatchObject(fault);
  });

  test("is refused when an id is nested deeper than the stack", () => {
    const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
    expect(targetOf(fieldsOf({ $package: deep }), forAny)).toMatchObject(noPackage("[…]"));
  });
});

test.each([
  ["package", 17, "Package 17 was not found, or several packages have this name. Use its id"],
  ["pixel", "docs", "Pixel docs was not found, or several pixels have this name. Use its id"],
  [
    "package",
    PACKAGE_ID,
    `Package ${PACKAGE_ID} does not exist, or this import has no permission to write to it`,
  ],
] as const)("a %s %j that is not found is refused with the way to name it", (kind, id, message) => {
  expect(artifactNotFound({ kind, id })).toMatchObject({ type: "artifact-not-found", message });
});
