import type { HostReach } from "../../../schemas/contracts/package-routing.js";
import { path } from "../../web/address.js";
import { type Visit, useVisit } from "../../web/page.js";
import { CopyLine } from "../../web/parts/form.js";
import { Panel, Tabs } from "../../web/parts/panel.js";
import { yearQuery } from "../../web/statistics/load-statistics.js";
import { linkWith } from "../../web/statistics/view-state.js";
import { type Beginning, CASES, type Case, caseNamed } from "./cases.js";
import { Reached } from "./reached.js";
import { StepForm } from "./step-form.js";
import { type Step, TOKEN, stepsFor } from "./steps.js";
import { TokenHint } from "./token-hint.js";

interface FirstStepsProps {
  subject: Beginning;
  hosts?: readonly HostReach[];
  publicUrl?: string | undefined;
  /** The viewer gets the forms of steps. */
  mayChange?: boolean;
}

/** Lines to copy, with the real ids and hosts in them, until the first event is there. */
export function FirstSteps({ subject, hosts = [], publicUrl, mayChange = false }: FirstStepsProps) {
  const visit = useVisit();
  const cases = casesFor(subject);
  const chosen = cases.find((each) => each === caseNamed(visit.query.get("case"))) ?? cases[0];
  if (chosen === undefined) return <Waiting subject={subject} />;
  const steps = stepsFor(visit, { chosen, subject, known: { domain: hosts[0]?.host, publicUrl } });
  return (
    <>
      <Waiting subject={subject} />
      {subject.kind === "package" && hosts.length > 0 && (
        <Reached packageId={subject.found.uuid} hosts={hosts} />
      )}
      {cases.length > 1 && (
        <Tabs
          label="Source"
          tabs={cases.map((each) => ({
            label: each.title,
            href: linkWith(visit, { case: each.name }),
            isCurrent: each === chosen,
          }))}
        />
      )}
      {steps.some(({ text }) => text?.includes(TOKEN)) && <TokenHint />}
      <ol class="steps">
        {steps.map(({ title, about, text, form }) => (
          <li>
            <Panel title={title}>
              {about && <p class="soft">{about}</p>}
              {form && mayChange && <StepForm kind={form} publicUrl={publicUrl} />}
              {text && <CopyLine label={title} text={text} />}
            </Panel>
          </li>
        ))}
      </ol>
      {visit.ctx.state.isCollectGuessed &&
        steps.some((step) => speaksOf(step, visit.ctx.state.collectBase)) && (
          <p class="soft">
            <code>{visit.ctx.state.collectBase}</code> is a placeholder for the collector's host name. The
            operator can set it with <code>COLLECT_HOST</code>.
          </p>
        )}
      {isLoopback(visit.ctx.state.collectBase) &&
        steps.some((step) => speaksOf(step, visit.ctx.state.collectBase)) && (
          <p class="soft">
            <code>{visit.ctx.state.collectBase}</code> only works on this machine. Before you publish these
            lines, replace it with the URL at which your users reach the collector.
          </p>
        )}
    </>
  );
}

function isLoopback(url: string): boolean {
  return /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);
}

function speaksOf({ about, text }: Step, address: string): boolean {
  return `${about} ${text}`.includes(address);
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
      <a href={linkWith(visit, {})}>Refresh</a>
    </div>
  );
}

function statisticsAddress({ href, owner }: Visit, subject: Beginning): string {
  const about = subject.kind === "pixel" ? { pixel: subject.found.id } : { package: subject.found.uuid };
  return href(path`/api/v2/${owner.name}/stats`, yearQuery(about));
}
