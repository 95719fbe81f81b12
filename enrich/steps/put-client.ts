import type { Put } from "./put.js";

/** An unfamiliar agent is a fact about the world, not a failure: the client stays unknown. */
export const putClient: Put = (event, { clients }) => {
  const client = clients.of(event.userAgent);
  event.client = event.platform === undefined ? client : { ...client, platform: event.platform };
};
