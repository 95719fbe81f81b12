import { readdirSync } from "node:fs";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { ACTIONS } from "../../../../../api/base/access/resources.js";
import { DEFAULT_QUOTAS } from "../../../../../api/base/access/quotas.js";
import { createApp } from "../../../../../api/app.js";
import { managementRoutes } from "../../../../../api/management-routes.js";
import { type Route, pathsOf, route } from "../../../../../api/base/http/route.js";
import { ALL_ROUTES, PUBLIC_ROUTES, TOKEN_ROUTES } from "../../../../support/api/all-routes.js";

/** Routes without a token: they are about the service itself, or show what was made public. */
const SHOWN = ["/badge/:owner/:name.svg", "/badge/:owner/:name.json", "/p/:owner/:name"];
/** Its token is in the link. */
const MAIL_PAGES = ["/unsubscribe/:notification", "/confirm-address/:agreement"];
const PUBLIC = [
  "/healthz",
  "/readyz",
  "/openapi.json",
  "/docs",
  "/docs/:hash/:file",
  ...SHOWN,
  ...MAIL_PAGES,
];

const UNUSED = {} as never;

interface Layer {
  path: string;
  methods: string[];
}

/** The routes of the application's router, with the program's own in it. */
function registered(): Layer[] {
  const managed = managementRoutes({ pg: UNUSED, tokens: UNUSED }).length;
  // The application makes the route of assistants itself: it leads to all others.
  const routes = TOKEN_ROUTES.slice(managed).filter(({ action }) => action !== "assistants.ask");
  const log = pino({ level: "silent" });
  const publicRoutes = PUBLIC_ROUTES;
  const deps = {
    pg: UNUSED,
    tokens: UNUSED,
    readiness: { checks: {} },
    auditAccessMax: 1,
    requestsPerSecond: 1,
  };
  const app = createApp({ ...deps, log, routes, publicRoutes });
  const routers = app.middleware.flatMap((each) => ("router" in each ? [each.router] : []));
  return (routers as { stack: Layer[] }[]).flatMap(({ stack }) => stack);
}

describe("the router", () => {
  const layers = registered().flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`));

  test("holds nothing but the routes that name an action, and what is public", () => {
    const named = TOKEN_ROUTES.flatMap((each) => pathsOf(each).map((path) => [each.method, path] as const));
    const open = PUBLIC.map((path) => ["GET", path] as const);
    const signed = ["/v2/:owner/annotations/github", ...MAIL_PAGES].map((path) => ["POST", path] as const);
    const read = [...named, ...open, ...signed].flatMap(([method, path]) =>
      method === "GET" ? [`HEAD ${path}`, `GET ${path}`] : [`${method} ${path}`],
    );
    expect(layers.toSorted()).toEqual(read.toSorted());
  });

  test("holds no path twice for one method", () => {
    expect(new Set(layers).size).toBe(layers.length);
  });
});

describe("a route", () => {
  test.each(TOKEN_ROUTES.map((each) => [`${each.method} ${String(each.path)}`, each.action]))(
    "%s names an action that is ruled",
    (_, action) => {
      expect(Object.keys(ACTIONS)).toContain(action);
    },
  );

  test("does not compile without an action", () => {
    const { method, path, operation, handle } = TOKEN_ROUTES[0] as Route;
    // @ts-expect-error An action has to be named.
    const unnamed = route({ method, path, operation, handle });
    expect(unnamed).not.toHaveProperty("action");
  });
});

test("the tests know every route that a module of api/ makes", async () => {
  const files = readdirSync("api", { recursive: true, encoding: "utf8" })
    .filter((file) => /\/[a-z-]+-routes\.ts$/.test(file))
    .map((file) => file.replace(/\.ts$/, ".js"));
  const modules = await Promise.all(
    files.map(async (file) => import(`../../../../../api/${file}`) as Promise<object>),
  );
  const makers = modules.flatMap((each) =>
    Object.entries(each).filter(([name, made]) => /Routes$/.test(name) && typeof made === "function"),
  ) as [string, (deps: object) => { operation: { id: string } }[]][];
  const made = makers.flatMap(([, make]) =>
    make({ quotas: DEFAULT_QUOTAS }).map(({ operation }) => operation.id),
  );
  expect(made.toSorted()).toEqual(ALL_ROUTES.map(({ operation }) => operation.id).toSorted());
});
