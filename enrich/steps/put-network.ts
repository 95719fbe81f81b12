import type { Put } from "./put.js";

/** Whose network the event came from: company or cloud provider, and the type of connection. */
export const putNetwork: Put = (event, { networks }) => {
  event.network = networks.of(event.address);
};
