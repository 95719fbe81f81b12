import { domainToASCII } from "node:url";
import { HOST_VERIFICATION_PROPERTIES, type HostVerification } from "./host-verification.js";
import { compileBody } from "../validate.js";

/** PackageDomainV1, as returned. */
export interface PackageDomainV1 extends CreatePackageDomainV1, Partial<HostVerification> {
  id: string;
}

/** CreatePackageDomainV1, as sent. */
export interface CreatePackageDomainV1 {
  /** The full domain name. */
  name: string;
}

export const PACKAGE_DOMAIN_V1 = {
  title: "PackageDomainV1",
  type: "object",
  required: ["id", "name"],
  additionalProperties: false,
  properties: {
    id: { type: "string", format: "uuid" },
    name: { type: "string" },
    ...HOST_VERIFICATION_PROPERTIES,
  },
} as const;

export const CREATE_PACKAGE_DOMAIN_V1 = {
  title: "CreatePackageDomainV1",
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: {
      type: "string",
      maxLength: 253,
      description:
        "A full domain name; stored in lower case, and in its xn-- form if it has letters beyond ASCII",
    },
  },
} as const;

/** The name becomes ASCII and lower case, as in a `Host` header. Throws `invalid-body` naming every fault. */
export function parseCreatePackageDomain(body: unknown): CreatePackageDomainV1 {
  return { name: hostNameOf(parseSent(body).name) ?? "" };
}

const parseSent = compileBody<CreatePackageDomainV1>(CREATE_PACKAGE_DOMAIN_V1, ({ name }) =>
  name === undefined || hostNameOf(name) !== undefined ? [] : [{ path: "/name", message: SENTENCE }],
);

const SENTENCE =
  "must be a full domain name such as files.example.org: no address, port, path, wildcard or dot at the end";

/** RFC 1123, 2.1, with at least two labels. The last is no number, which excludes IPv4 addresses. */
const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Undefined if the text is no host name. Only letters, digits, hyphens and dots are converted, because the conversion
 * silently corrects other characters.
 */
function hostNameOf(text: string): string | undefined {
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return undefined;
  const ascii = domainToASCII(text);
  return HOST_NAME.test(ascii) ? ascii : undefined;
}
