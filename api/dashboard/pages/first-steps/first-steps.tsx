import type { HostReach } from "../../../../schemas/contracts/package-routing.js";
import { path } from "../../address.js";
import { type Visit, useVisit } from "../../page.js";
import { CopyLine } from "../../parts/form.js";
import { Panel, Tabs } from "../../parts/panel.js";
import { yearQuery } from "../../statistics/load-statistics.js";
import { linkWith } from "../../statistics/view-state.js";
import { type Beginning, CASES, type Case, caseNamed } from "./cases.js";
import { Reached } from "./reached.js";
import { type Step, stepsFor } from "./steps.js";

/** Lines to copy, with the real ids and hosts in them, until the first event is there. */
export function FirstSteps({ subject, hosts = [] }: { subject: Beginning; hosts?: readonly HostReach[] }) {
  const visit = useVisit();
  const cases = casesFor(subject);
  const chosen = cases.find((each) => each === caseNamed(visit.query.get("case"))) ?? cases[0];
  if (chosen === undefined) return <Waiting subject={subject} />;
  const steps = stepsFor(chosen, subject, visit);
  return (
    <>
      <Waiting subject={subject} />
      {subject.kind === "package" && hosts.length > 0 && (
        <Reached packageId={subject.found.uuid} hosts={hosts} />
      )}
      {cases.length > 1 && (
        <Tabs
          label="Your case"
          tabs={cases.map((each) => ({
            label: each.title,
            href: linkWith(visit, { case: each.name }),
            isCurrent: each === chosen,
          }))}
        />
      )}
      <ol class="steps">
        {steps.map(({ title, about, text, isForm }) => (
          <li>
            <Panel title={title}>
              {about && <p class="soft">{about}</p>}
              {isForm && <SettingsLink subject={subject} />}
              {text && <CopyLine label={title} text={text} />}
            </Panel>
          </li>
        ))}
      </ol>
      {visit.ctx.state.isCollectGuessed &&
        steps.some((step) => speaksOf(step, visit.ctx.state.collectBase)) && (
          <p class="soft">
            <code>{visit.ctx.state.collectBase}</code> stands for the host name that your proxy leads to live
            collection. The operator can set it with <code>COLLECT_HOST</code>.
          </p>
        )}
      {steps.some(({ text }) => text?.includes("$TOKEN")) && (
        <p class="soft">
          The lines take <code>$TOKEN</code> from your shell: it is on your{" "}
          <a href={visit.href("/account")}>account page</a>.
        </p>
      )}
    </>
  );
}

function speaksOf({ about, text }: Step, address: string): boolean {
  return `${about} ${text}`.includes(address);
}

function SettingsLink({ subject }: { subject: Beginning }) {
  const { href, owner } = useVisit();
  if (subject.kind === "pixel") return null;
  return (
    <a class="button" href={href(path`/o/${owner.name}/settings/packages/${subject.found.uuid}`)}>
      Settings of the package
    </a>
  );
}

/** Logs can be imported for every type of package. */
function casesFor(subject: Beginning): Case[] {
  if (subject.kind === "pixel") return CASES.filter(({ type }) => type === undefined);
  const type = subject.found.libraryType ?? "other";
  const live = CASES.filter((each) => each.type === type && each.name !== "logs");
  return [...live, ...CASES.filter(({ name }) => name === "logs")];
}

/** The script asks every few seconds, and loads the page anew when there is something to show. */
function Waiting({ subject }: { subject: Beginning }) {
  const visit = useVisit();
  return (
    <div class="notice waiting" data-wait={statisticsAddress(visit, subject)}>
      <span class="pulse" aria-hidden="true" />
      <p role="status">Waiting for your first event…</p>
      <a href={linkWith(visit, {})}>Look again</a>
    </div>
  );
}

function statisticsAddress({ href, owner }: Visit, subject: Beginning): string {
  const about = subject.kind === "pixel" ? { pixel: subject.found.id } : { package: subject.found.uuid };
  return href(path`/api/v2/${owner.name}/stats`, yearQuery(about));
}
