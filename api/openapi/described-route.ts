import type { Route } from "../route.js";

/** What the document needs of a route; one without an action needs no token. */
export type DescribedRoute = Pick<Route, "method" | "path" | "operation"> & Partial<Pick<Route, "action">>;
