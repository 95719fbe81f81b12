import type { Put } from "./put.js";

/** The network of the address: company or cloud provider, and the type of connection. */
export const putNetwork: Put = (event, { networks }) => {
  event.network = networks.of(event.address);
};
