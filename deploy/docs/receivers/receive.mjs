// A webhook receiver for Node without dependencies: PORT=9000 WEBHOOK_SECRET=whsec_... node receive.mjs
// Responds with 204 to a genuine delivery that is at most five minutes old, and with 401 to all other requests.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const AGE_SECONDS_MAX = 300;

function isGenuine(header, body, secret) {
  const fields = String(header)
    .split(",")
    .map((field) => field.split("="));
  const [, time] = fields.find(([name]) => name === "t") ?? [];
  if (!(Math.abs(Date.now() / 1000 - time) <= AGE_SECONDS_MAX)) return false;
  const digest = createHmac("sha256", secret).update(`${time}.`).update(body).digest();
  const signatures = fields.filter(([name]) => name === "v1").map(([, hex]) => Buffer.from(hex ?? "", "hex"));
  return signatures.some((each) => each.length === digest.length && timingSafeEqual(each, digest));
}

createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()); // the raw bytes: parse them after the check
  const genuine = isGenuine(request.headers["x-service-signature"], body, process.env.WEBHOOK_SECRET);
  response.writeHead(genuine ? 204 : 401).end();
  if (genuine) console.log(JSON.parse(body));
}).listen(Number(process.env.PORT));
