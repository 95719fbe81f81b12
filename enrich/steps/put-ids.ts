import type { Put } from "./put.js";

/** Keyed hashes in place of the client and its address; the address itself is not stored. */
export const putIds: Put = (event, { ids }) => {
  event.originId = ids.origin(event.address, event.userAgent);
  event.endpointId = ids.endpoint(event.address);
};
