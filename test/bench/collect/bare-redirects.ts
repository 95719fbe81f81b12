import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A process that answers every request with a redirect and does nothing else; says over IPC where it listens. */
const server = createServer((_, response) => {
  response.writeHead(307, { Location: "https://files.example.org/", "Content-Length": 0 }).end();
});
server.listen(0, "127.0.0.1", () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once("disconnect", () => process.exit());
