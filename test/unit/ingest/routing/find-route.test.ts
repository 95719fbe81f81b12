import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compareRoutes,
  findRoute,
  routesConflict,
  sortRoutes,
} from "../../../../ingest/routing/find-route.js";
import { matchRoute } from "../../../../schemas/routing/match-route.js";
import {
  decodeRouteTemplate,
  readRequestTarget,
  type RouteTemplate,
  decodeTemplate,
  expandTemplate,
  type UrlTemplate,
} from "../../../../schemas/routing/url-template.js";

function templateOf(text: string): RouteTemplate {
  const decoded = decodeRouteTemplate(text);
  expect(decoded).not.toHaveProperty("fault");
  return decoded as RouteTemplate;
}

function variablesIn(text: string, target: string): Record<string, string> | undefined {
  const variables = matchRoute(templateOf(text), readRequestTarget(target));
  return variables && Object.fromEntries(variables);
}

describe("a route's template", () => {
  test.each([
    ["foo", "must begin with /"],
    ["", "must begin with /"],
    ["https://x.example/", "must begin with /"],
    ["//x.example/a", "must not contain an empty segment"],
    ["/a//b", "must not contain an empty segment"],
    ["/a/../b", "must not contain the segment .."],
    ["/%2E", "must not contain the segment %2E"],
    ["/a#b", "must not contain #"],
    ["/a?b=c#d", "must not contain #"],
    ["/{a}{b}", "must have text between two variables"],
    ["/{a}/{+a}", "must not use the variable a twice"],
    ["/{a}?x={a}", "must not use the variable a twice"],
    ["/a?{x}=1", "must not have a variable or an empty string as a parameter name after ?"],
    ["/a?", "must not have a variable or an empty string as a parameter name after ?"],
    ["/a?x=1&x={y}", "must not repeat a parameter name after ?"],
    ["/{a", "has a { or } that is not part of a variable"],
    ["/a b", 'must not contain " "'],
  ])("%s is refused: %s", (text, fault) => {
    expect(decodeRouteTemplate(text)).toEqual({ fault });
  });
});

describe("a route", () => {
  test.each([
    ["/", "/", {}],
    ["/foo", "/foo", {}],
    ["/foo", "/foo/", undefined],
    ["/foo", "/Foo", undefined],
    ["/{v}", "/a.b-c", { v: "a.b-c" }],
    ["/{v}", "/", undefined],
    ["/{v}", "/a/b", undefined],
    ["/{v}", "/a%2Fb", { v: "a/b" }],
    ["/{v}/", "/a/", { v: "a" }],
    ["/{+path}", "/a/b/c", { path: "a/b/c" }],
    ["/{+path}", "/a%2Fb/c%3f", { path: "a%2Fb/c%3F" }],
    ["/{+path}/{file}", "/a/b/c.gz", { path: "a/b", file: "c.gz" }],
    ["/{a}/{+b}", "/x/y/z", { a: "x", b: "y/z" }],
    ["/{name}-{version}.tar.gz", "/my-lib-1.0.tar.gz", { name: "my-lib", version: "1.0" }],
    ["/{name}-{version}", "/-1", undefined],
    ["/v{v}/x", "/v1/x", { v: "1" }],
    ["/v{v}/x", "/v/x", undefined],
    ["/@scope/{p}", "/%40scope/p", { p: "p" }],
    ["/%40scope/{p}", "/@scope/p", { p: "p" }],
    ["/a%2fb", "/a%2Fb", {}],
    ["/a%2Fb", "/a/b", undefined],
    ["/a/b", "/a%2Fb", undefined],
    ["/café", "/caf%c3%a9", {}],
    ["/caf%C3%A9", "/café", {}],
    ["/{v}", "/50%", { v: "50%" }],
    ["/{v}", "/a+b%20c", { v: "a+b c" }],
    ["/{v}", "/%FF", { v: "\udcff" }],
    ["/data", "/data?x=1#there", {}],
    ["/data?a={x}&b={y}", "/data?b=2&c=3&a=1", { x: "1", y: "2" }],
    ["/data?a={x}", "/data?a=1&a=2", { x: "1" }],
    ["/data?a={x}", "/data", undefined],
    ["/data?a={x}", "/data?a=", undefined],
    ["/data?a=", "/data?a", {}],
    ["/data?a=1", "/data?a=%31", {}],
    ["/data?a=1", "/data?a=2", undefined],
    ["/data?a={x}", "/data?a=b/c=d?e", { x: "b/c=d?e" }],
    ["/data?a=v{x}", "/data?a=v1", { x: "1" }],
  ])("%s takes from %s: %j", (template, target, variables) => {
    expect(variablesIn(template, target)).toEqual(variables);
  });

  test("subtracts pieces times characters from the work, and the characters compared", () => {
    const work = { left: 1000 };
    const target = readRequestTarget(`/${"-".repeat(99)}`);
    expect(matchRoute(templateOf("/{+a}--{b}!"), target, work)).toBeUndefined();
    expect(work.left).toBeGreaterThan(0);
    expect(work.left).toBeLessThan(1000 - 5 * 101);
  });

  test.each([
    ["pieces", "/{+a}-{+b}-{+c}-{+d}-{+e}", `/${"-".repeat(2000)}`],
    ["texts", `/{+a}${"a".repeat(400)}{+b}`, `/${"a".repeat(2000)}`],
    ["values", "/?x={a}-{b}-{c}-{d}-{e}", `/?x=${"-".repeat(2000)}`],
  ])("matches nothing where the %s would take more work than there is", (_, template, path) => {
    const target = readRequestTarget(path);
    expect(matchRoute(templateOf(template), target)).toBeDefined();
    expect(matchRoute(templateOf(template), target, { left: 10_000 })).toBeUndefined();
  });
});

describe("several routes", () => {
  test.each([
    ["/foo/latest", "/foo/{v}"],
    ["/foo/{v}", "/{+path}"],
    ["/foo/{v}", "/{w}/latest"],
    ["/foo/v{v}", "/foo/{v}"],
    ["/foo/{v}.tar.gz", "/foo/{v}.gz"],
    ["/foo/{v}", "/foo/a{+v}"],
    ["/foo/a{+v}", "/foo/{+v}"],
    ["/{+path}/latest", "/{+path}"],
    ["/{+path}/{v}/x", "/{+path}/x"],
    ["/{+path}/x/{v}", "/{+path}/{v}"],
    ["/{+path}/x/{+rest}", "/{+path}/{+rest}"],
    ["/{v}/{+rest}", "/{+path}/{+rest}"],
    ["/data?a={x}", "/data"],
    ["/data?a=1", "/data?a={x}"],
    ["/data?a={x}&b={y}", "/data?a=1"],
    ["/foo/latest", "/foo/{v}?a=1"],
  ])("%s comes before %s", (first, second) => {
    expect(compareRoutes(templateOf(first), templateOf(second))).toBeLessThan(0);
    expect(compareRoutes(templateOf(second), templateOf(first))).toBeGreaterThan(0);
  });

  test.each([
    ["/foo/{a}", "/foo/{b}"],
    ["/{+a}", "/{+b}"],
    ["/caf%c3%a9", "/café"],
    ["/%40x", "/@x"],
    ["/data?a={x}&b={y}", "/data?b={q}&a={+p}"],
  ])("%s and %s conflict", (a, b) => {
    expect(routesConflict(templateOf(a), templateOf(b))).toBe(true);
    expect(compareRoutes(templateOf(a), templateOf(b))).toBe(0);
  });

  test.each(["/foo/{+a}", "/foo/{a}/", "/Foo/{a}", "/foo%2F{a}", "/foo/{a}?b=1", "/foo/{a}-{b}"])(
    "/foo/{a} and %s do not conflict",
    (other) => expect(routesConflict(templateOf("/foo/{a}"), templateOf(other))).toBe(false),
  );

  const many = Array.from({ length: 199 }, (_, at) => `/{a}-{b}-{c}-{d}-z${at}`);

  test.each([
    ["a request that takes too much work finds nothing", "a-".repeat(5000), undefined],
    ["others find theirs among as many", "a-".repeat(50), "/{+any}"],
  ])("%s", (_, path, template) => {
    const routes = sortRoutes([...many, "/{+any}"].map((text) => ({ text, template: templateOf(text) })));
    expect(findRoute(routes, `/${path}`)?.route.text).toBe(template);
  });

  test("the first match in order wins, with its variables", () => {
    const routes = ["/{+path}", "/foo/{v}", "/foo/latest"].map((text) => ({
      text,
      template: templateOf(text),
    }));
    routes.sort((a, b) => compareRoutes(a.template, b.template));
    const found = (target: string) => {
      const answer = findRoute(routes, target);
      return answer && [answer.route.text, Object.fromEntries(answer.variables)];
    };
    expect(found("/foo/latest?x=1")).toEqual(["/foo/latest", {}]);
    expect(found("/foo/1")).toEqual(["/foo/{v}", { v: "1" }]);
    expect(found("/foo/1/2")).toEqual(["/{+path}", { path: "foo/1/2" }]);
    expect(found("/")).toBeUndefined();
  });
});

/** Segments of few letters, so that templates meet. */
const segment = fc.constantFrom("a", "b", "ab", "{v}", "a{v}", "{v}b", "a{v}b", "{+v}", "a{+v}", "{v}-{v}");
const query = fc.constantFrom("", "", "?q={v}", "?q=a", "?q=a&r={v}", "?r={+v}");

/** Gives each variable a name of its own. */
function named(text: string): string {
  let count = 0;
  return text.replace(/v(?=\})/g, () => `v${count++}`);
}
const route = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), query)
  .map(([segments, behind]) => named(`/${segments.join("/")}${behind}`));
const target = fc
  .tuple(fc.array(fc.constantFrom("a", "b", "ab", "aab", "a-b"), { minLength: 1, maxLength: 5 }), query)
  .map(([segments, behind]) => `/${segments.join("/")}${behind.replace(/\{.*?\}/g, "a")}`);

describe("for any routes", () => {
  test("expanding and then matching gives the variables back", () => {
    const value = fc.string({ unit: fc.constantFrom(..."ab1./?&=#%+é😀 "), minLength: 1, maxLength: 8 });
    // Variables that fill their segments leave nothing to choose, and encoded text stays encoded.
    const wide = fc.string({ unit: fc.constantFrom(..."ab/?&=é😀 "), minLength: 1, maxLength: 8 });
    const shape = fc.constantFrom(
      "/{a}",
      "/{a}/x/{b}",
      "/{a}/{+c}",
      "/x/{a}?q={b}",
      "/{+c}",
      "/{a}?q={b}&r={d}",
    );
    fc.assert(
      fc.property(shape, value, value, value, wide, (text, a, b, d, c) => {
        const path = c.replace(/[?#]/g, "");
        const values = new Map(Object.entries({ a, b, c: `${path}z`, d }));
        const target = expandTemplate(decodeTemplate(text) as UrlTemplate, values);
        const variables = variablesIn(text, target);
        const names = Object.keys(variables ?? {});
        expect(variables).toEqual(Object.fromEntries(names.map((name) => [name, values.get(name)])));
        expect(names.length).toBe(templateOf(text).variables.length);
      }),
    );
  });

  test("precedence is a total order, and equal means conflict", () => {
    fc.assert(
      fc.property(route, route, route, (x, y, z) => {
        const [a, b, c] = [templateOf(x), templateOf(y), templateOf(z)];
        expect(Math.sign(compareRoutes(a, b))).toBe(-Math.sign(compareRoutes(b, a)) + 0);
        expect(compareRoutes(a, b) === 0).toBe(routesConflict(a, b));
        const [first, second, third] = [a, b, c].sort(compareRoutes);
        expect(compareRoutes(first!, second!)).toBeLessThanOrEqual(0);
        expect(compareRoutes(first!, third!)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 2_000 },
    );
  });

  test("conflict is symmetric, and conflicting routes match the same requests", () => {
    fc.assert(
      fc.property(route, route, target, (x, y, sent) => {
        const [a, b] = [templateOf(x), templateOf(y)];
        expect(routesConflict(a, b)).toBe(routesConflict(b, a));
        const renamed = templateOf(x.replace(/v(?=\d)/g, "w"));
        expect(routesConflict(a, renamed)).toBe(true);
        const read = readRequestTarget(sent);
        const matches = [a, renamed].map((template) => matchRoute(template, read) !== undefined);
        expect(matches[0]).toBe(matches[1]);
      }),
    );
  });

  test("the match does not depend on the order in which routes were created", () => {
    fc.assert(
      fc.property(fc.array(route, { maxLength: 8 }), target, (texts, sent) => {
        const routes = texts.map((text) => ({ text, template: templateOf(text) }));
        const found = (list: typeof routes) => {
          const sorted = [...list].sort((a, b) => compareRoutes(a.template, b.template));
          const answer = findRoute(sorted, sent);
          return answer && JSON.stringify([...answer.variables.values()]);
        };
        expect(found(routes)).toBe(found([...routes].reverse()));
      }),
    );
  });

  test("a route that matches a part of another's requests comes first", () => {
    const narrowed = fc.constantFrom<[RegExp, string]>(
      [/\{v\}/, "a"],
      [/\{\+v\}/, "{v}"],
      [/\{\+v\}/, "{+v}/{v}"],
      [/\{\+v\}/, "{v}/{+v}"],
      [/\{\+v\}/, "{+v}/a/{+v}"],
      [/\{v\}/, "{v}b"],
      [/$/, "?z=1"],
    );
    const unnamed = fc
      .array(segment, { minLength: 1, maxLength: 4 })
      .map((segments) => `/${segments.join("/")}`);
    fc.assert(
      fc.property(unnamed, narrowed, (text, [from, to]) => {
        const narrower = text.replace(from, to);
        fc.pre(narrower !== text);
        expect(compareRoutes(templateOf(named(narrower)), templateOf(named(text)))).toBeLessThan(0);
      }),
      { numRuns: 2_000 },
    );
  });
});
