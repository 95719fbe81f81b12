import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

/**
 * A process that answers every request with the file that its first argument names, as a registry does that keeps blobs
 * on its disk; says over IPC where it listens.
 */
const file = process.argv[2] ?? "";
const server = createServer((_, response) => {
  const headers = { "Content-Type": "application/octet-stream", "Content-Length": statSync(file).size };
  response.writeHead(200, headers);
  pipeline(createReadStream(file), response, () => undefined);
});
server.listen(0, "127.0.0.1", () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once("disconnect", () => process.exit());
