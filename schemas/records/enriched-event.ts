import type { Artifact } from "./artifact.js";

/** Who fetched: a package client, a browser or a bot. Empty strings mean "not known". */
export interface Client {
  client: string;
  clientVersion: string;
  platform: string;
}

/** Where an address is. Empty strings and NaN mean "not known". */
export interface Place {
  /** ISO 3166-1 alpha-2. */
  country: string;
  /** First subdivision, by name (state, province). */
  state: string;
  city: string;
  postal: string;
  /** Degrees, or NaN. */
  latitude: number;
  longitude: number;
}

/** Whose network an address is in. Empty strings mean "not known" or "does not apply". */
export interface Network {
  company: string;
  companyDomain: string;
  /** `cloud provider`, `hosting`, `ISP`, `business`, `education`, `government`, or empty. */
  connectionType: string;
  cloudProvider: string;
  cloudProviderDomain: string;
}

/** An event on its way: what the line said, then what each step of enrichment put. Mutated in place by steps. */
export interface EnrichedEvent {
  artifact: Artifact;
  /** 1-based line of its import, blank lines counted. */
  line: number;
  /** `$unique_id` as text, or empty: then the event cannot be overridden. */
  uniqueId: string;
  /** Milliseconds since the epoch. */
  time: number;
  type: string;
  version: string;
  domain: string;
  referer: string;
  userAgent: string;
  /** IPv4 or IPv6 in canonical text, or empty. Never stored. */
  address: string;
  /** Names and values in turn: `[name, value, name, value]`. */
  variables: string[];
  /** In place of the one that the user agent names, where the request itself says so; live events only. */
  platform?: string;
  client: Client;
  place: Place;
  network: Network;
  /** 32 hexadecimal digits, or empty without an address: keyed hashes, so that addresses are not kept. */
  originId: string;
  endpointId: string;
}

/** The sources of enrichment, behind the smallest types that steps need. */
export interface Lookups {
  clients: { of(userAgent: string): Client };
  places: { of(address: string): Place };
  networks: { of(address: string): Network };
  ids: {
    /** Equal for the same client: keyed hash of address with user agent. */
    origin(address: string, userAgent: string): string;
    /** Keyed hash of the address alone. */
    endpoint(address: string): string;
  };
}

export const UNKNOWN_CLIENT: Client = Object.freeze({ client: "", clientVersion: "", platform: "" });
export const UNKNOWN_PLACE: Place = Object.freeze({
  country: "",
  state: "",
  city: "",
  postal: "",
  latitude: NaN,
  longitude: NaN,
});
export const UNKNOWN_NETWORK: Network = Object.freeze({
  company: "",
  companyDomain: "",
  connectionType: "",
  cloudProvider: "",
  cloudProviderDomain: "",
});
