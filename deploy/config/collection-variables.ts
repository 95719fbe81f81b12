import { SWITCH, type VariableSchema } from "./variable-schema.js";

export const COLLECTION_VARIABLES = {
  COLLECT_HOST: {
    type: "string",
    format: "host",
    mustBe: "a host name",
    unset: "every host that is no package's domain, hosts of docker packages included",
    meaning: "The only host name that serves pixels and npm reports. No package can have it.",
  },
  DOMAIN_VERIFICATION: {
    type: "string",
    enum: ["off", "dns"],
    mustBe: "off or dns",
    default: "off",
    meaning:
      "With `dns`, a domain or the host of a docker package's `publicUrl` is served only once its owner has shown that it " +
      "is theirs, by a TXT record; see [whose host](collecting.md#whose-host). Set it where strangers have accounts.",
  },
  DNS_SERVERS: {
    type: "string",
    format: "dns-servers",
    mustBe: "IP addresses, with a port or without, separated by commas, such as 9.9.9.9,[2620:fe::fe]:53",
    unset: "those of the system",
    meaning: "The servers that are asked for the records of `DOMAIN_VERIFICATION`.",
  },
  COLLECT_ALLOW_PRIVATE_UPSTREAMS: {
    ...SWITCH,
    meaning:
      "Whether the index of a Python package, and the registry of an image for clients that are answered through this " +
      "host, may be at a private, loopback or other special address.",
  },
} as const satisfies Record<string, VariableSchema>;
