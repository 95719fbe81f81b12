import { parentPort, workerData } from "node:worker_threads";
import { type LookupPaths, loadLookupData } from "../../enrich/lookups/load-lookup-data.js";

// Ends with the tables, or with an error that names the unusable file.
parentPort?.postMessage(await loadLookupData(workerData as LookupPaths));
