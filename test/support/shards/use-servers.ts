import { findGivenServers } from "./given-servers.js";
import { useSuiteServers } from "./suite-servers.js";

const servers = findGivenServers();
if ("missing" in servers) throw new Error(servers.missing);
useSuiteServers();
