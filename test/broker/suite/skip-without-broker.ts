import type { TestProject } from "vitest/node";

const NO_TEST = /^(?!)/;

/** Reports all tests of a project as skipped where there is no broker. With CI=true each file fails (use-broker.ts). */
export function setup(project: TestProject): void {
  const broker = project.getProvidedContext().suiteBroker;
  if (!("missing" in broker) || process.env["CI"] === "true") return;
  process.stderr.write(`\nSKIPPED: the system suite on Kafka. ${broker.missing}\n\n`);
  project.config.testNamePattern = NO_TEST;
}
