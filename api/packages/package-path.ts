import type { ParsedUrlQuery } from "node:querystring";
import { LIBRARY_TYPES, type LibraryType } from "../../schemas/records/artifact.js";
import { storedType } from "../../schemas/contracts/package.js";
import type { Call } from "../http/route.js";
import { Problem } from "../../schemas/problem.js";

const TYPES = [...LIBRARY_TYPES, "file"] as const;

/** The type that narrows a package name, if given. Throws `invalid-query`. */
export function parsePackageType({ packageType: text }: ParsedUrlQuery): LibraryType | undefined {
  if (text === undefined) return undefined;
  const type = TYPES.find((each) => each === text);
  if (type !== undefined) return storedType(type);
  throw new Problem("invalid-query", `packageType must be one of ${TYPES.join(", ")}.`);
}

/** The parameters of every path with a package in it, to spread into an operation. */
export const PACKAGE_PATH = {
  package: {
    schema: { type: "string" },
    description: "The package's uuid, or its name, percent-encoded",
    example: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
  },
} as const;

export const PACKAGE_QUERY = {
  packageType: {
    schema: { type: "string", enum: TYPES },
    description: "Which type of package is meant, where several share the name",
  },
} as const;

/** The package that a path with its owner in it names, for `packageOfOwnerFor`. Throws `invalid-query`. */
export function packageOnPath({ ctx, param }: Pick<Call, "ctx" | "param">) {
  return { owner: param("owner"), idOrName: param("package"), type: parsePackageType(ctx.query) };
}

/** Problems of these paths, in addition to those of every operation. */
export const PACKAGE_PROBLEMS = ["ambiguous-name"] as const;

/** The parameter of every path with a pixel in it. */
export const PIXEL_PATH = {
  pixel: {
    schema: { type: "string", minLength: 1 },
    description: "The pixel's id, or its name, percent-encoded",
    example: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  },
} as const;
