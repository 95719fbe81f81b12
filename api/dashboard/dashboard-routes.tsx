import Router from "@koa/router";
import type { Middleware } from "koa";
import { Problem } from "../../schemas/problem.js";
import { requireSession } from "../base/identity/sessions.js";
import { BODY_LIMITS, FORM_LIMITS } from "../base/http/body-limits.js";
import { isOfPages } from "../base/http/middleware/browser-security.js";
import type { ApiContext, ApiState } from "../base/http/route.js";
import { addressOf } from "../web/address.js";
import { orErrorPage, putStatus } from "../web/error-page.js";
import { bareVisit, openVisit } from "../web/open-visit.js";
import type { Page, Visit } from "../web/page.js";
import { PAGES } from "./pages.js";
import { readForm } from "../web/read-form.js";
import { SignedOut } from "./signed-out.js";
import { renderPage } from "../web/layout.js";

/** The root redirects browsers, and tells programs where to look. */
export function leadToDashboard(): Middleware<ApiState> {
  return async (ctx, next) => {
    const { publicBase } = ctx.state;
    if (ctx.path !== "/" || !["GET", "HEAD"].includes(ctx.method)) return void (await next());
    if (ctx.accepts("json", "html") === "html") return ctx.redirect(addressOf(publicBase, ""));
    const places = `The dashboard is at ${publicBase}/dashboard, the API reference at ${publicBase}/docs.`;
    throw new Problem("not-found", `There is no page at /. ${places}`);
  };
}

/**
 * `/dashboard/api/v1/...` is `/v1/...` for the signed-in account: for the pages' own script, downloads and uploads. Runs
 * after the checks of session and origin, and before `authenticate`. `?accept=text/csv` stands for the header.
 */
export function apiForSessions(): Middleware<ApiState> {
  return (ctx, next) => {
    const [, apiPath] = IN_API.exec(ctx.path) ?? [];
    if (apiPath === undefined) return next();
    ctx.state.account = requireSession(ctx.state.session).account;
    ctx.state.publicBase += "/dashboard/api";
    // A link cannot say which form it wants.
    if (typeof ctx.query["accept"] === "string") {
      ctx.req.headers.accept = ctx.query["accept"];
      const { accept: _, ...query } = ctx.query;
      ctx.query = query;
    }
    ctx.path = apiPath;
    return next();
  };
}

const IN_API = /^\/dashboard\/api(\/v[12]\/.*)$/;

/** Errors of pages that reach this, such as those of sessions, become pages. Runs before their checks. */
export function dashboardErrors(): Middleware<ApiState> {
  return async (ctx, next) => {
    if (!isPage(ctx.path)) return void (await next());
    await orErrorPage(bareVisit(ctx), async () => {
      await next();
      if (ctx.status === 404 && (ctx.body === null || ctx.body === undefined)) throw notFound(ctx.path);
    });
  };
}

/** Answers every page. Runs after the checks of session and origin. */
export function dashboardPages(pages: readonly Page[] = PAGES): Middleware<ApiState> {
  const router = new Router<ApiState>({ sensitive: true });
  for (const each of pages) {
    const paths = pathsOf(each);
    router.get(paths, (ctx) => answerPage(each, ctx));
    if (each.submit) router.post(paths, (ctx) => answerPage(each, ctx));
  }
  const routes = router.routes() as Middleware<ApiState>;
  return async (ctx, next) => void (await (isPage(ctx.path) ? routes(ctx, async () => undefined) : next()));
}

function pathsOf({ root = "/dashboard", path }: Page): string[] {
  return [path].flat().map((below) => `${root}${below === "/" ? "" : below}`);
}

function isPage(path: string): boolean {
  return isOfPages(path) && !IN_API.test(path);
}

async function answerPage(page: Page, ctx: ApiContext): Promise<void> {
  ctx.state.route = pathsOf(page)[0] ?? "none";
  const visit = bareVisit(ctx);
  await orErrorPage(visit, async () => {
    const { session, takePlace } = ctx.state;
    if (page.isOpen || session !== undefined) {
      using _place = session && (await takePlace?.(session.account.id));
      await openVisit(visit);
      await (ctx.method === "POST" ? takeForm(page, visit) : show(page, visit));
    } else if (ctx.method === "POST") refuseSignedOut(visit);
    else leadToSignIn(ctx);
  });
}

/** Reads nothing of the form: anybody can send one. A session that ended elsewhere takes nothing that was typed. */
function refuseSignedOut(visit: Visit): void {
  visit.ctx.status = 401;
  renderPage(visit, { title: "Signed out", content: <SignedOut /> });
}

/** After sign-in the browser comes back to the page. */
function leadToSignIn(ctx: ApiContext): void {
  const { url: to } = ctx;
  redirect(ctx, addressOf(ctx.state.publicBase, "/sign-in", to === "/dashboard" ? {} : { to }));
}

async function takeForm(page: Page, visit: Visit): Promise<void> {
  const { ctx } = visit;
  const form = await readForm(ctx, { ...(page.isOpen ? BODY_LIMITS : FORM_LIMITS), ...page.forms });
  try {
    const submitted = (await page.submit?.(visit, form)) ?? { to: visit.href("") };
    if ("to" in submitted) return redirect(ctx, submitted.to);
    visit.shown = submitted.shown;
    ctx.status = 200;
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    visit.refused = { form, problem: error };
    putStatus(ctx, error);
  }
  await show(page, visit);
}

/** 303, so that a reload does not send a form again. */
function redirect(ctx: ApiContext, to: string): void {
  ctx.redirect(to);
  ctx.status = 303;
}

/** `load` may have redirected. */
async function show(page: Page, visit: Visit): Promise<void> {
  const { ctx } = visit;
  const data = await page.load(visit);
  if (ctx.response.headers.location !== undefined) return;
  const notices = typeof page.notices === "function" ? page.notices(data) : (page.notices ?? {});
  const notice = new Map(Object.entries(notices)).get(visit.query.get("notice") ?? "");
  const title = page.title(data, visit);
  renderPage(visit, { title, section: page.section, notice, content: page.render(data, visit) });
}

function notFound(path: string): Problem {
  return new Problem("not-found", `There is no page at ${path}.`);
}
