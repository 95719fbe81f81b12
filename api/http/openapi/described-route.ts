import type { Route } from "../route.js";

/** The part of a route that the document needs. A route without an action needs no token. */
export type DescribedRoute = Pick<Route, "method" | "path" | "operation"> & Partial<Pick<Route, "action">>;
