import type { Problem } from "../../../schemas/problem.js";
import { useVisit } from "../page.js";

/** The content of a page that could not be shown: a sentence, and where to go on. */
export function ErrorContent({ problem }: { problem: Problem }) {
  const { href, ctx } = useVisit();
  const { title, sentence } = wordsFor(problem);
  return (
    <section class="empty">
      <p class="status">{problem.status}</p>
      <h1>{title}</h1>
      <p>{sentence}</p>
      <p class="actions">
        <a class="button" href={href("")}>
          To the overview
        </a>
      </p>
      {problem.status >= 500 && <p class="soft small">Request {ctx.state.requestId}</p>}
    </section>
  );
}

function wordsFor({ status, message }: Problem): { title: string; sentence: string } {
  if (status === 404)
    return { title: "Not found", sentence: "There is nothing here, or nothing that you may see." };
  if (status === 503)
    return {
      title: "Unavailable at the moment",
      sentence: "A store cannot be reached. Nothing is lost; try again in a few seconds.",
    };
  if (status >= 500) return { title: "Something went wrong here", sentence: message };
  return { title: "This cannot be shown", sentence: message };
}
