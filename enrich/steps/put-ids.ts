import type { Put } from "./put.js";

/** Ids that stand for the client and its address from here on; the address itself is not stored. */
export const putIds: Put = (event, { ids }) => {
  event.originId = ids.origin(event.address, event.userAgent);
  event.endpointId = ids.endpoint(event.address);
};
