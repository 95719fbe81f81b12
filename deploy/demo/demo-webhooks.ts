import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { pause } from "../../schemas/async/pause.js";
import type { ApiClient } from "./api-client.js";

export interface DemoReceiver extends AsyncDisposable {
  url: string;
}

/**
 * A receiver on this machine. `/crm` breaks off the first connection, after which the service tries again by itself;
 * `/chat` refuses its first two requests.
 */
export async function openDemoReceiver(): Promise<DemoReceiver> {
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    const nth = (seen.get(path) ?? 0) + 1;
    seen.set(path, nth);
    request.resume().on("end", () => answer(path, { nth, request, response }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Exchange {
  nth: number;
  request: IncomingMessage;
  response: ServerResponse;
}

function answer(path: string, { nth, request, response }: Exchange): void {
  if (path === "/crm" && nth === 1) return void request.socket.destroy();
  if (path === "/chat" && nth <= 2) response.statusCode = 503;
  response.end(response.statusCode === 200 ? "thank you" : "the chat is being updated");
}

interface Made {
  id: string;
}

/** Makes the webhooks, whose first event is still to come. Answers the one that is refused. */
export async function makeWebhooks(
  api: ApiClient,
  { owner, receiver }: { owner: string; receiver: DemoReceiver },
): Promise<string> {
  const make = (path: string) =>
    api.post<Made>(`/v2/${owner}/webhooks`, {
      url: `${receiver.url}/${path}`,
      event_kinds: ["company-funnel-stage-changed"],
    });
  await make("crm");
  const { id } = await make("chat");
  await api.post(`/v2/${owner}/webhooks/${id}/test`, {});
  return id;
}

const POLL_MS = 100;
const POLLS_MAX = 50;

/** Sends the refused event again, as a person would who has mended the receiver. Answers what happened. */
export async function mendDelivery(
  api: ApiClient,
  { owner, webhook }: { owner: string; webhook: string },
): Promise<string> {
  const path = `/v2/${owner}/webhooks/${webhook}/deliveries`;
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const { deliveries } = await api.get<{ deliveries: DemoDelivery[] }>(path);
    const refused = deliveries.find(({ state, event_type: type }) => state === "failed" && type !== "test");
    if (refused !== undefined) {
      await api.post(`${path}/${refused.id}/redeliver`, {});
      return (
        "Two webhooks receive them: one delivery is retried in 10 s, the other was rejected and then " +
        "retried.\n"
      );
    }
    await pause(POLL_MS);
  }
  return "Two webhooks receive them.\n";
}

interface DemoDelivery {
  id: string;
  state: string;
  event_type: string;
}
