import type { Put } from "./put.js";

/** Adds the company or cloud provider and the connection type. */
export const putNetwork: Put = (event, { networks }) => {
  event.network = networks.of(event.address);
};
