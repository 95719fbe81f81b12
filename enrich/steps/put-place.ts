import type { Put } from "./index.js";

/** Where the event came from, as far as the city database knows. */
export const putPlace: Put = (event, { places }) => {
  event.place = places.of(event.address);
};
