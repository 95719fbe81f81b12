import type { Put } from "./put.js";

/** Where the event came from, as far as the city database knows. */
export const putPlace: Put = (event, { places }) => {
  event.place = places.of(event.address);
};
