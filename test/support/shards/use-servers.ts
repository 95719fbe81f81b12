import { findGivenServers, useSuiteServers } from "./given-servers.js";

const servers = findGivenServers();
if ("missing" in servers) throw new Error(servers.missing);
useSuiteServers();
