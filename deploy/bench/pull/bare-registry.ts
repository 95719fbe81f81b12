import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A process that answers every request below `/<bytes>/` with so many bytes; says over IPC where it listens. */
const PART = Buffer.alloc(1024 * 1024, "blob");

const server = createServer((request, response) => {
  const bytes = Number(/^\/v2\/(\d+)\//.exec(request.url ?? "")?.[1] ?? 0);
  response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": bytes });
  sendRest(response, bytes);
});
server.listen(0, "127.0.0.1", () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once("disconnect", () => process.exit());

function sendRest(response: ServerResponse, bytes: number): void {
  for (let left = bytes; left > 0;) {
    const part = left < PART.length ? PART.subarray(0, left) : PART;
    left -= part.length;
    if (response.write(part) || left === 0) continue;
    const rest = left;
    return void response.once("drain", () => sendRest(response, rest));
  }
  response.end();
}
