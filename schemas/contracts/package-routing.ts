import type { FromSchema } from "json-schema-to-ts";
import { titledObject } from "../formats.js";
import { domainToASCII } from "node:url";
import { compileBody } from "../validate.js";

/** How far an owner has shown that a host is theirs. Only where the service asks for that. */
export interface HostVerification {
  verified: boolean;
  /** The record that the DNS has to have. */
  verification: { type: "TXT"; name: string; value: string };
}

export const HOST_VERIFICATION_PROPERTIES = {
  verified: {
    type: "boolean",
    description:
      "Whether the owner has verified the host. An unverified host is not served. Absent if the service " +
      "does not require verification (`DOMAIN_VERIFICATION`)",
  },
  verification: {
    title: "HostVerification",
    type: "object",
    required: ["type", "name", "value"],
    additionalProperties: false,
    properties: {
      type: { type: "string", const: "TXT" },
      name: { type: "string" },
      value: { type: "string" },
    },
    description: "The DNS record to add",
  },
} as const;

export const HOST_REACH = titledObject("HostReach", ["host", "dns", "tls"], {
  host: { type: "string" },
  dns: { type: "boolean", description: "Whether the host has a DNS address record" },
  tls: {
    type: "boolean",
    description: "Whether the host responds over TLS with a valid certificate",
  },
  fault: { type: "string", description: "Why the host cannot be reached" },
});
/** How far a host can be reached from where the service runs. */
export type HostReach = FromSchema<typeof HOST_REACH>;

export function verificationName(host: string): string {
  return `_maintainer-toolchain.${host}`;
}

export const PACKAGE_DOMAIN_V1 = titledObject("PackageDomainV1", ["id", "name"], {
  id: { type: "string", format: "uuid" },
  name: { type: "string" },
  ...HOST_VERIFICATION_PROPERTIES,
});
export type PackageDomainV1 = FromSchema<typeof PACKAGE_DOMAIN_V1>;

export const CREATE_PACKAGE_DOMAIN_V1 = titledObject("CreatePackageDomainV1", ["name"], {
  name: {
    type: "string",
    maxLength: 253,
    description:
      "A fully qualified domain name. Stored in lower case, with non-ASCII names converted to Punycode (`xn--`)",
  },
});
export type CreatePackageDomainV1 = FromSchema<typeof CREATE_PACKAGE_DOMAIN_V1>;

/** The name becomes ASCII and lower case, as in a `Host` header. Throws `invalid-body` naming every fault. */
export function parseCreatePackageDomain(body: unknown): CreatePackageDomainV1 {
  return { name: hostNameOf(parseSent(body).name) ?? "" };
}

const parseSent = compileBody<CreatePackageDomainV1>(CREATE_PACKAGE_DOMAIN_V1, ({ name }) =>
  name === undefined || hostNameOf(name) !== undefined ? [] : [{ path: "/name", message: SENTENCE }],
);

const SENTENCE =
  "must be a full domain name such as files.example.org, without port, path, wildcard or trailing dot; " +
  "IP addresses are not allowed";

/** RFC 1123, 2.1, with at least two labels. The last is no number, which excludes IPv4 addresses. */
const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Undefined if the text is no host name. Converts no other characters: the conversion silently corrects them.
 */
function hostNameOf(text: string): string | undefined {
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return undefined;
  const ascii = domainToASCII(text);
  return HOST_NAME.test(ascii) ? ascii : undefined;
}

export const PACKAGE_ROUTE_V1 = titledObject("PackageRouteV1", ["id", "outgoingUrl", "templatePath"], {
  id: { type: "string", format: "uuid" },
  outgoingUrl: { type: "string" },
  templatePath: { type: "string" },
});
export type PackageRouteV1 = FromSchema<typeof PACKAGE_ROUTE_V1>;

export const CREATE_PACKAGE_ROUTE_V1 = titledObject("CreatePackageRouteV1", ["outgoingUrl", "templatePath"], {
  outgoingUrl: {
    type: "string",
    maxLength: 2048,
    description:
      "An absolute http(s) URL template with at most 16 variables, all of them in templatePath. Leave empty " +
      "to count without redirecting",
  },
  templatePath: {
    type: "string",
    minLength: 1,
    maxLength: 1024,
    description:
      "A path, optionally with parameters, as an RFC 6570 level 2 template with at most 16 variables: " +
      "/{version}/{+file}?os={os}",
  },
});
export type CreatePackageRouteV1 = FromSchema<typeof CREATE_PACKAGE_ROUTE_V1>;

/** The limit for one template: more variables make matching slower and requests larger. */
export const VARIABLES_MAX = 16;
