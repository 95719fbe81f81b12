import type { FromSchema } from "json-schema-to-ts";
import { LIBRARY_TYPES, type LibraryType } from "../records/artifact.js";
import { isHttpUrl, TIMESTAMP, isObject, titledObject } from "../formats.js";
import { Problem, type FieldFault } from "../problem.js";
import { HOST_VERIFICATION_PROPERTIES } from "./package-routing.js";
import { compileBody } from "../validate.js";

/** PackageUpsertV1 after parsing: the type is set and URLs have their stored form. */
export interface PackageUpsert extends Omit<SentPackage, "libraryType"> {
  libraryType: LibraryType;
}

export const PACKAGE_V1 = titledObject(
  "PackageV1",
  ["uuid", "owner", "name", "shortDescription", "createdAt"],
  {
    uuid: { type: "string", format: "uuid" },
    owner: { type: "string" },
    name: { type: "string" },
    shortDescription: { type: "string" },
    createdAt: TIMESTAMP,
    longDescription: { type: "string" },
    website: { type: "string" },
    libraryType: { type: "string", enum: LIBRARY_TYPES },
  },
);
export type PackageV1 = FromSchema<typeof PACKAGE_V1>;

export const PACKAGE_UPSERT = titledObject("PackageUpsertV1", ["name", "shortDescription"], {
  name: { type: "string", format: "line", minLength: 1, maxLength: 256 },
  shortDescription: { type: "string", format: "text", maxLength: 1000 },
  longDescription: { type: ["string", "null"], format: "text", maxLength: 100_000 },
  website: { type: ["string", "null"], format: "website", maxLength: 2048 },
  libraryType: { type: ["string", "null"], enum: [...LIBRARY_TYPES, "file", null] },
  backendUrl: { type: ["string", "null"], format: "line", maxLength: 2048 },
  publicUrl: { type: ["string", "null"], format: "line", maxLength: 2048 },
  repositoryURL: { type: ["string", "null"], format: "line", maxLength: 2048 },
});
type SentPackage = FromSchema<typeof PACKAGE_UPSERT>;

const URL_TEXT = { type: "string" } as const;

export const PACKAGE_UPSTREAM = {
  title: "PackageUpstream",
  type: "object",
  additionalProperties: false,
  properties: {
    backend_url: { ...URL_TEXT, description: "URL of the image in its own registry" },
    public_url: { ...URL_TEXT, description: "URL from which users pull the image" },
    repository_url: { ...URL_TEXT, description: "URL of the Python index that has the files" },
    ...HOST_VERIFICATION_PROPERTIES,
  },
} as const;
/**
 * The addresses of a package, each absent if not set. The verification is that of the host of `public_url`.
 */
export type PackageUpstream = FromSchema<typeof PACKAGE_UPSTREAM>;

export function parsePackageUpsert(body: unknown): PackageUpsert {
  return stored(parseSent(body));
}

/**
 * The type stays if the body does not name one. Throws also `library-type-is-immutable`, with all other
 * faults.
 */
export function parsePackageUpdate(body: unknown, type: LibraryType): PackageUpsert {
  const libraryType = isObject(body) ? body.libraryType : undefined;
  const named = LIBRARY_TYPES.find(
    (each) => each === libraryType || (each === "other" && libraryType === "file"),
  );
  if (named !== undefined && named !== type)
    throw new Problem(
      "library-type-is-immutable",
      `The package has the type ${type}, which cannot be changed.`,
      {
        errors: [
          fault("libraryType", `must be ${type} or omitted`),
          ...faultsOf({ ...(body as object), libraryType: type }),
        ],
      },
    );
  const keeps = named === undefined && (libraryType === undefined || libraryType === null);
  return stored(parseSent(isObject(body) && keeps ? { ...body, libraryType: type } : body));
}

function stored(sent: SentPackage): PackageUpsert {
  const repositoryURL = sent.repositoryURL && withTrailingSlash(sent.repositoryURL);
  return { ...sent, ...(repositoryURL && { repositoryURL }), libraryType: storedType(sent.libraryType) };
}

function faultsOf(body: object): readonly FieldFault[] {
  try {
    parseSent(body);
    return [];
  } catch (error) {
    if (error instanceof Problem) return error.errors ?? [];
    throw error;
  }
}

export function storedType(type: LibraryType | "file" | null | undefined): LibraryType {
  return type === undefined || type === null || type === "file" ? "other" : type;
}

const parseSent = compileBody<SentPackage>(PACKAGE_UPSERT, typeFaults);

/** The type that each field belongs to. On other types the field is refused. */
const TYPE_OF_FIELD = { backendUrl: "docker", publicUrl: "docker", repositoryURL: "pypi" } as const;

function typeFaults(sent: Partial<SentPackage>, faulty: ReadonlySet<string>): FieldFault[] {
  if (faulty.has("/libraryType")) return [];
  const type = storedType(sent.libraryType);
  const foreign = Object.entries(TYPE_OF_FIELD)
    .filter(([field, owning]) => owning !== type && present(sent[field as keyof SentPackage]))
    .map(([field, owning]) => fault(field, `applies to ${owning} packages only, not to ${type} packages`));
  if (type === "docker") return [...foreign, ...dockerFaults(sent)];
  if (type === "pypi") return [...foreign, ...pythonFaults(sent)];
  return foreign;
}

function dockerFaults({ backendUrl, publicUrl }: Partial<SentPackage>): FieldFault[] {
  const backend = present(backendUrl)
    ? registryFaults("backendUrl", backendUrl)
    : [fault("backendUrl", "is required for docker packages")];
  const front = present(publicUrl) ? registryFaults("publicUrl", publicUrl) : [];
  const both = present(backendUrl) && present(publicUrl) && backend.length + front.length === 0;
  if (!both || pathOf(backendUrl) === pathOf(publicUrl)) return [...backend, ...front];
  return [fault("publicUrl", `must have the same path as backendUrl, ${pathOf(backendUrl)}`)];
}

const COMPONENT = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;

function registryFaults(field: string, url: string): FieldFault[] {
  if (!isHttpUrl(url) || /[?#]/.test(url)) {
    return [fault(field, "must be an absolute http or https URL without a query, fragment or password")];
  }
  const components = pathOf(url).split("/").slice(1);
  if (components.length === 0 || components.every((component) => component === "")) {
    return [fault(field, "must have at least one path component, as in https://registry.example/team/image")];
  }
  return components
    .filter((component) => !COMPONENT.test(component))
    .map((component) =>
      fault(field, `has the path component "${component}", which must match ${COMPONENT.source}`),
    );
}

function pythonFaults({ repositoryURL }: Partial<SentPackage>): FieldFault[] {
  if (!present(repositoryURL) || (isHttpUrl(repositoryURL) && !/[?#]/.test(repositoryURL))) return [];
  return [
    fault("repositoryURL", "must be an absolute http or https URL without a query, fragment or password"),
  ];
}

/** Reads the text, because a parsed URL has resolved `..` and escapes. */
function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/i, "");
}

function withTrailingSlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}

function present<Value>(value: Value | null | undefined): value is Value {
  return value !== undefined && value !== null;
}

function fault(field: string, message: string): FieldFault {
  return { path: `/${field}`, message };
}
