/** How far an owner has shown that a host is theirs. Only where the service asks for that. */
export interface HostVerification {
  verified: boolean;
  /** The record that the DNS has to have. */
  verification: { type: "TXT"; name: string; value: string };
}

export const HOST_VERIFICATION_PROPERTIES = {
  verified: {
    type: "boolean",
    description: "Whether it is served; absent where the service serves every host (`DOMAIN_VERIFICATION`)",
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
    description: "The record that the DNS has to have",
  },
} as const;

/** The name of the record of a host. */
export function verificationName(host: string): string {
  return `_maintainer-toolchain.${host}`;
}
