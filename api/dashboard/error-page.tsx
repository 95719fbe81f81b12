import type { Problem } from "../../schemas/problem.js";
import { problemFor } from "../http/middleware/answer-problems.js";
import type { ApiContext } from "../http/route.js";
import type { Visit } from "./page.js";
import { ErrorContent } from "./parts/error-content.js";
import { renderPage } from "./render-page.js";

/** Runs the work of a page. Its errors become pages with their status. */
export async function orErrorPage(visit: Visit, work: () => Promise<void>): Promise<void> {
  const { ctx } = visit;
  try {
    await work();
  } catch (error) {
    const problem = problemFor(ctx, error);
    putStatus(ctx, problem);
    renderPage(visit, { title: titleOf(problem), content: <ErrorContent problem={problem} /> });
  }
}

export function putStatus(ctx: ApiContext, { status, retryAfterSeconds }: Problem): void {
  ctx.status = status;
  if (retryAfterSeconds !== undefined) ctx.set("Retry-After", String(retryAfterSeconds));
}

function titleOf({ status }: Problem): string {
  if (status === 404) return "Not found";
  return status === 503 ? "Unavailable" : "Error";
}
