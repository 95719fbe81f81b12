import type { Artifact } from "./artifact.js";

/** Clients that ask by themselves: a robot, continuous integration or a mirror of a registry. Empty: none of these. */
export const AUTOMATED = ["", "bot", "ci", "mirror"] as const;
export type Automated = (typeof AUTOMATED)[number];

/** The program that sent the request: a package client, a browser or a bot. Empty strings mean "not known". */
export interface Client {
  client: string;
  clientVersion: string;
  platform: string;
  automated: Automated;
}

export type ReportedClient = Partial<Omit<Client, "automated">>;

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

/** The network of an address. Empty strings mean "not known" or "does not apply". */
export interface Network {
  company: string;
  companyDomain: string;
  /** `cloud provider`, `hosting`, `ISP`, `business`, `education`, `government`, or empty. */
  connectionType: string;
  cloudProvider: string;
  cloudProviderDomain: string;
}

/** An event during enrichment: the fields of its line, then those of each step. Steps mutate it. */
export interface EnrichedEvent {
  artifact: Artifact;
  /** 1-based line of its import, blank lines counted. */
  line: number;
  /** `$unique_id` as text. An event without one (empty) cannot be overridden. */
  uniqueId: string;
  time: number;
  type: string;
  version: string;
  domain: string;
  referer: string;
  userAgent: string;
  /** IPv4 or IPv6 in any spelling, or empty. Never stored: keyed ids take its place. */
  address: string;
  /** That the line names; counts where its address tells none. */
  country: string;
  /** Names and values alternate: `[name, value, name, value]`. */
  variables: string[];
  /** The client as the request itself describes it, unchanged; live events only. */
  reported?: ReportedClient;
  client: Client;
  place: Place;
  network: Network;
}

/** The sources of enrichment, reduced to the methods that steps need. */
export interface Lookups {
  /** Another text for other tables. */
  id: string;
  clients: { of(userAgent: string, reported?: ReportedClient): Client };
  places: { of(address: string): Place };
  networks: { of(address: string): Network };
}

export const UNKNOWN_CLIENT: Client = Object.freeze({
  client: "",
  clientVersion: "",
  platform: "",
  automated: "",
});
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
