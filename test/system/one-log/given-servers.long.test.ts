import { openLocalServers } from "../../support/stores/database-servers.js";
import { programOnServers } from "../../support/program/program-on-servers.js";

programOnServers("the program on a PostgreSQL and a ClickHouse that were there before it", openLocalServers);
