import { startProxy } from "../support/collect/start-server.js";

/** Leads made-up host names to port `argv[2]` of this machine, as DNS would, until it is ended. Prints its proxy URL. */
const { url } = await startProxy(() => process.argv[2] ?? "");
process.stdout.write(`${url}\n`);
