import type { Problem } from "../../schemas/problem.js";
import { problemFor } from "../base/http/middleware/answer-problems.js";
import type { ApiContext } from "../base/http/route.js";
import { type Visit, useVisit } from "./page.js";
import { renderPage } from "./layout.js";
import { guideAddress } from "./guide-files.js";
import { type Meant, Meanings, meantBy } from "./not-found.js";

export async function orErrorPage(visit: Visit, work: () => Promise<void>): Promise<void> {
  const { ctx } = visit;
  try {
    await work();
  } catch (error) {
    if (ctx.state.left.aborted) throw error;
    const problem = problemFor(ctx, error);
    putStatus(ctx, problem);
    const retrySeconds = isAskedAgain(visit, problem)
      ? (problem.retryAfterSeconds ?? RETRY_SECONDS)
      : undefined;
    const meant = problem.status === 404 ? await meantBy(visit) : undefined;
    const content = <ErrorContent problem={problem} meant={meant} />;
    renderPage(visit, { title: titleOf(problem), retrySeconds, content });
  }
}

const RETRY_SECONDS = 10;

/** A form that could not be saved is not sent again. */
function isAskedAgain({ ctx }: Visit, { status }: Problem): boolean {
  return status === 503 && ctx.method === "GET";
}

export function putStatus(ctx: ApiContext, { status, retryAfterSeconds }: Problem): void {
  ctx.status = status;
  if (retryAfterSeconds !== undefined) ctx.set("Retry-After", String(retryAfterSeconds));
}

function titleOf({ status }: Problem): string {
  if (status === 404) return "Page not found";
  return status === 503 ? "Unavailable" : "Error";
}

function ErrorContent({ problem, meant }: { problem: Problem; meant: Meant | undefined }) {
  const visit = useVisit();
  const { href, ctx } = visit;
  const { title, sentence } = wordsFor(problem);
  return (
    <section class="empty">
      <p class="status">{problem.status}</p>
      <h1>{title}</h1>
      <p>{sentence}</p>
      {meant && <Meanings {...meant} />}
      <p class="actions">
        <a class="button" href={href("")}>
          Go to overview
        </a>
        <a class="button" href={guideAddress(visit)}>
          Guide
        </a>
      </p>
      {problem.status >= 500 && <p class="soft small">Request ID: {ctx.state.requestId}</p>}
    </section>
  );
}

function wordsFor({ status, message }: Problem): { title: string; sentence: string } {
  if (status === 404)
    return {
      title: "Page not found",
      sentence: "This page doesn't exist, or you don't have access to it.",
    };
  if (status === 503)
    return {
      title: "Temporarily unavailable",
      sentence: "The database is temporarily unavailable. No data is lost; this page retries automatically.",
    };
  if (status >= 500)
    return {
      title: "Unexpected error",
      sentence:
        "Try again. If the error persists, report the request ID below to the operator of this service.",
    };
  if (status === 403) return { title: "Access denied", sentence: message };
  return { title: "This page can't be shown", sentence: message };
}
