import { decodeRouteTemplate, decodeTemplate, variablesOf } from "../../schemas/routing/url-template.js";
import {
  CREATE_PACKAGE_ROUTE_V1,
  VARIABLES_MAX,
  type CreatePackageRouteV1,
} from "../../schemas/contracts/package-routing.js";
import { isHttpUrl } from "../../schemas/formats.js";
import type { FieldFault } from "../../schemas/problem.js";
import { compileBody } from "../../schemas/validate.js";

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

/** `captured` is undefined when the path itself has a fault. Variables are then not checked. */
function outgoingFaults(outgoingUrl: string, captured: readonly string[] | undefined): FieldFault[] {
  const path = "/outgoingUrl";
  const template = decodeTemplate(outgoingUrl);
  if ("fault" in template) return [{ path, message: template.fault }];
  // The sender of a request chooses the values, and must not be able to choose the host.
  if (!/^https?:\/\/[^/?#{}]+(?:[/?#]|$)/i.test(outgoingUrl) || !isHttpUrl(withSample(outgoingUrl)))
    return [
      { path, message: "must be empty or an absolute http or https URL without variables in its host" },
    ];
  const variables = variablesOf(template);
  const unknown = [...new Set(variables)].filter(
    (name) => captured !== undefined && !captured.includes(name),
  );
  return [
    ...tooManyVariables(path, variables),
    ...unknown.map((name) => ({
      path,
      message: `uses the variable ${name}, which is not in templatePath`,
    })),
  ];
}

function tooManyVariables(path: string, { length }: readonly string[]): FieldFault[] {
  if (length <= VARIABLES_MAX) return [];
  return [{ path, message: `must have at most ${VARIABLES_MAX} variables; it has ${length}` }];
}

function withSample(template: string): string {
  return template.replace(/\{[^{}]*\}/g, "x");
}
