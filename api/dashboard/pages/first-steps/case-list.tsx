import { path } from "../../address.js";
import { useVisit } from "../../page.js";
import { CASES } from "./cases.js";

/** "Choose your case": each leads to the form that makes the package or pixel it needs. */
export function CaseList() {
  const { href, owner } = useVisit();
  return (
    <ul class="cases">
      {CASES.map(({ name, title, about }) => (
        <li>
          <a href={href(path`/o/${owner.name}/new`, { case: name })}>
            <strong>{title}</strong>
            <span class="soft">{about}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
