import type { Put } from "./put.js";

/** The place of the address, as far as the city database knows. */
export const putPlace: Put = (event, { places }) => {
  event.place = places.of(event.address);
};
