import { openLocalServers } from "../support/database-servers.js";
import { programOnServers } from "../support/program-on-servers.js";

programOnServers("the program on a PostgreSQL and a ClickHouse that were there before it", openLocalServers);
