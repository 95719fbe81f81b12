import { isHttpUrl } from "../formats.js";
import type { FieldFault } from "../problem.js";
import { decodeRouteTemplate } from "../../ingest/routing/route-template.js";
import { decodeTemplate, variablesOf } from "../../ingest/routing/url-template.js";
import { compileBody } from "../validate.js";

/** PackageRouteV1, as returned. */
export interface PackageRouteV1 extends CreatePackageRouteV1 {
  id: string;
}

/** CreatePackageRouteV1, as sent. */
export interface CreatePackageRouteV1 {
  /** Empty: the route only collects. */
  outgoingUrl: string;
  templatePath: string;
}

export const PACKAGE_ROUTE_V1 = {
  title: "PackageRouteV1",
  type: "object",
  required: ["id", "outgoingUrl", "templatePath"],
  additionalProperties: false,
  properties: {
    id: { type: "string", format: "uuid" },
    outgoingUrl: { type: "string" },
    templatePath: { type: "string" },
  },
} as const;

export const CREATE_PACKAGE_ROUTE_V1 = {
  title: "CreatePackageRouteV1",
  type: "object",
  required: ["outgoingUrl", "templatePath"],
  additionalProperties: false,
  properties: {
    outgoingUrl: {
      type: "string",
      maxLength: 2048,
      description:
        "An absolute http(s) URL template of at most 16 variables, all of them in templatePath; empty to only collect",
    },
    templatePath: {
      type: "string",
      minLength: 1,
      maxLength: 1024,
      description:
        "A path, and parameters if need be, as an RFC 6570 template of level 2 with at most 16 variables: " +
        "/{version}/{+file}?os={os}",
    },
  },
} as const;

/** Of one package: each may have to be tried on every request. */
export const ROUTES_MAX = 200;

/** Of a template: what matching takes grows with them, and so does what a request can blow up. */
export const VARIABLES_MAX = 16;

/** Throws `invalid-body` naming every fault. */
export const parseCreatePackageRoute = compileBody<CreatePackageRouteV1>(
  CREATE_PACKAGE_ROUTE_V1,
  routeFaults,
);

function routeFaults({ templatePath, outgoingUrl }: Partial<CreatePackageRouteV1>): FieldFault[] {
  const path = templatePath === undefined ? undefined : decodeRouteTemplate(templatePath);
  const captured = path === undefined || "fault" in path ? undefined : path.variables;
  return [
    ...(path !== undefined && "fault" in path ? [{ path: "/templatePath", message: path.fault }] : []),
    ...(captured === undefined ? [] : tooManyVariables("/templatePath", captured)),
    ...(outgoingUrl === undefined || outgoingUrl === "" ? [] : outgoingFaults(outgoingUrl, captured)),
  ];
}

/** `captured` is undefined where the path is at fault itself: nothing is said of variables then. */
function outgoingFaults(outgoingUrl: string, captured: readonly string[] | undefined): FieldFault[] {
  const path = "/outgoingUrl";
  const template = decodeTemplate(outgoingUrl);
  if ("fault" in template) return [{ path, message: template.fault }];
  // Whoever sends the request chooses the values: they may never choose where it goes.
  if (!/^https?:\/\/[^/?#{}]+(?:[/?#]|$)/i.test(outgoingUrl) || !isHttpUrl(withSample(outgoingUrl)))
    return [
      { path, message: "must be an absolute http or https URL whose host has no variable in it, or empty" },
    ];
  const variables = variablesOf(template);
  const unknown = [...new Set(variables)].filter(
    (name) => captured !== undefined && !captured.includes(name),
  );
  return [
    ...tooManyVariables(path, variables),
    ...unknown.map((name) => ({
      path,
      message: `has the variable ${name}, which templatePath does not have`,
    })),
  ];
}

function tooManyVariables(path: string, { length }: readonly string[]): FieldFault[] {
  if (length <= VARIABLES_MAX) return [];
  return [{ path, message: `must have at most ${VARIABLES_MAX} variables, not ${length}` }];
}

function withSample(template: string): string {
  return template.replace(/\{[^{}]*\}/g, "x");
}
