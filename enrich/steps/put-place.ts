import type { Put } from "./put.js";

/** Adds the place, from the city database. */
export const putPlace: Put = (event, { places }) => {
  event.place = places.of(event.address);
};
