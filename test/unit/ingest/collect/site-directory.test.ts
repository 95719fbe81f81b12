import { describe, expect, test } from "vitest";
import { directoryOf, packageOf } from "./collect-request.js";

const id = (n: number) => `01990000-0000-7000-8000-00000000000${n}`;

const image = (n: number, over = {}) =>
  packageOf({
    id: id(n),
    name: `image-${n}`,
    libraryType: "docker",
    domains: [],
    backendUrl: `https://ghcr.io/team/image`,
    publicUrl: "https://CR.example:5000/team/image",
    publicHost: "cr.example",
    ...over,
  });

describe("domains", () => {
  test("serve their package until they move to another or are removed", () => {
    const directory = directoryOf(packageOf({ id: id(1) }));
    expect(directory.of("files.example")).toMatchObject({ kind: "file", packageId: id(1) });
    directory.putPackage(packageOf({ id: id(2), name: "other" }));
    directory.putPackage(packageOf({ id: id(1), domains: [] }));
    expect(directory.of("files.example")).toMatchObject({ packageId: id(2) });
    directory.removePackage(id(1));
    expect(directory.of("files.example")).toMatchObject({ packageId: id(2) });
    directory.removePackage(id(2));
    expect(directory.of("files.example")).toBeUndefined();
  });

  test("that belong to Python packages know the repository", () => {
    const repositoryUrl = "https://pypi.org/simple/";
    const directory = directoryOf(packageOf({ libraryType: "pypi", name: "numpy", repositoryUrl }));
    expect(directory.of("files.example")).toMatchObject({ kind: "python", project: "numpy", repositoryUrl });
  });

  test("have the more literal route first, and leave out routes that cannot be parsed", () => {
    const routes = ["/{+all}", "/a/{v}", "/a/b", "no path"].map((templatePath) => ({
      templatePath,
      outgoingUrl: "",
    }));
    const site = directoryOf(packageOf({ routes })).of("files.example");
    const first = site?.kind === "file" ? site.routes.map(({ template }) => template.variables) : [];
    expect(first).toEqual([[], ["v"], ["all"]]);
  });
});

describe("Python packages", () => {
  const python = (n: number, over = {}) =>
    packageOf({ id: id(n), libraryType: "pypi", name: "Acme.Tools", domains: [], ...over });

  test("are found by owner and normalised name, the oldest first, with and without a domain", () => {
    const directory = directoryOf(
      python(2),
      python(1, { name: "acme_tools" }),
      python(3, { ownerId: "other" }),
    );
    const { ownerId } = python(1);
    expect(directory.python.of(ownerId, "acme-tools")).toBe(id(1));
    expect(directory.python.of("other", "acme-tools")).toBe(id(3));
    directory.removePackage(id(1));
    expect(directory.python.of(ownerId, "acme-tools")).toBe(id(2));
    directory.putPackage(python(2, { name: "renamed" }));
    expect(directory.python.of(ownerId, "acme-tools")).toBeUndefined();
    expect(directory.python.of(ownerId, "renamed")).toBe(id(2));
  });

  test("of other kinds do not count as such", () => {
    const { ownerId } = python(1);
    const directory = directoryOf(python(1, { libraryType: "npm" }), python(2, { libraryType: "other" }));
    expect(directory.python.of(ownerId, "acme-tools")).toBeUndefined();
  });
});

describe("docker hosts", () => {
  test("know an image by the path of its public address, without the port", () => {
    expect(directoryOf(image(1)).of("cr.example")).toMatchObject({
      kind: "docker",
      images: new Map([
        ["team/image", { packageId: id(1), backend: "https://ghcr.io", backendPath: "team/image" }],
      ]),
    });
  });

  test("have the image of the oldest package, then of the next", () => {
    const directory = directoryOf(image(2), image(1), image(3));
    const serving = () => {
      const site = directory.of("cr.example");
      return site?.kind === "docker" ? site.images.get("team/image")?.packageId : undefined;
    };
    expect(serving()).toBe(id(1));
    directory.removePackage(id(1));
    expect(serving()).toBe(id(2));
    directory.putPackage(image(2, { publicUrl: null, publicHost: null }));
    expect(serving()).toBe(id(3));
    directory.removePackage(id(3));
    expect(directory.of("cr.example")).toBeUndefined();
  });

  test("belong to the owner of the reservation, not of the oldest package", () => {
    const directory = directoryOf(image(2), image(3, { publicUrl: "https://cr.example/other" }));
    const served = () => {
      const site = directory.of("cr.example");
      return site?.kind === "docker"
        ? [...site.images].map(([path, { packageId }]) => [path, packageId])
        : [];
    };
    directory.putPackage(image(1, { ownerId: id(9), publicHost: null }));
    expect(served()).toEqual([
      ["team/image", id(2)],
      ["other", id(3)],
    ]);
    directory.putPackage(image(1, { ownerId: id(9) }));
    expect(served()).toEqual([["team/image", id(1)]]);
    directory.removePackage(id(2));
    directory.removePackage(id(3));
    expect(served()).toEqual([["team/image", id(1)]]);
    directory.removePackage(id(1));
    expect(directory.of("cr.example")).toBeUndefined();
  });

  test("have the image of the oldest package as their first, in any order of arrival", () => {
    const at = (n: number) => image(n, { publicUrl: `https://cr.example/${n}` });
    const directory = directoryOf(at(3), at(2));
    const first = () => {
      const site = directory.of("cr.example");
      return site?.kind === "docker" ? site.first?.packageId : undefined;
    };
    expect(first()).toBe(id(2));
    directory.putPackage(at(1));
    directory.putPackage(at(2));
    expect(first()).toBe(id(1));
    directory.removePackage(id(1));
    expect(first()).toBe(id(2));
  });

  test("are overridden by a package's domain", () => {
    const directory = directoryOf(image(1), packageOf({ id: id(2), domains: ["cr.example"] }));
    expect(directory.of("cr.example")).toMatchObject({ kind: "file", packageId: id(2) });
    directory.removePackage(id(2));
    expect(directory.of("cr.example")).toMatchObject({ kind: "docker" });
  });
});

test("npm packages are found by name, the oldest first", () => {
  const npm = (n: number, name: string) => packageOf({ id: id(n), name, libraryType: "npm", domains: [] });
  const directory = directoryOf(npm(2, "left"), npm(1, "left"), npm(3, "right"));
  expect(directory.npm.of("left").map(({ packageId }) => packageId)).toEqual([id(1), id(2)]);
  directory.putPackage(npm(1, "renamed"));
  expect(directory.npm.of("left").map(({ packageId }) => packageId)).toEqual([id(2)]);
  directory.removePackage(id(2));
  expect(directory.npm.of("left")).toEqual([]);
  expect(directory.size).toEqual({ packages: 2, pixels: 0 });
});

test("pixels are found by id until they are removed", () => {
  const directory = directoryOf();
  directory.putPixel({ id: id(1), ownerId: "owner" });
  expect(directory.pixels.ownerOf(id(1))).toBe("owner");
  directory.removePixel(id(1));
  expect(directory.pixels.ownerOf(id(1))).toBeUndefined();
});
