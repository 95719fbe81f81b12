import type { Put } from "./put.js";

/** An unfamiliar agent is a fact about the world, not a failure: the client stays unknown. */
export const putClient: Put = (event, { clients }) => {
  event.client = clients.of(event.userAgent, event.reported);
};
