import { startRegistry } from "../support/collect/image-registry.js";

/** Serves images as ghcr.io does until it is ended, and prints its URL. */
const { url } = await startRegistry();
process.stdout.write(`${url}\n`);
