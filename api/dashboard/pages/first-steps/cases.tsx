import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../../schemas/contracts/pixel.js";
import type { LibraryType } from "../../../../schemas/records/artifact.js";
import { path } from "../../address.js";
import { useVisit } from "../../page.js";
import { Button, Field, Form } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";

export interface Case {
  name: string;
  title: string;
  about: string;
  /** The type of package that it needs; a pixel if absent. */
  type?: LibraryType;
}

/** The package or pixel whose first event is awaited. */
export type Beginning = { kind: "package"; found: PackageV1 } | { kind: "pixel"; found: PixelRecord };

export const CASES: readonly Case[] = [
  {
    name: "logs",
    title: "Access logs",
    about: "You serve downloads yourself and have the logs, or events in a file.",
    type: "other",
  },
  {
    name: "files",
    title: "Files",
    about: "Downloads go through a domain of yours, which counts them and sends them on.",
    type: "other",
  },
  {
    name: "docker",
    title: "Docker image",
    about: "A host name in front of your registry counts pulls.",
    type: "docker",
  },
  {
    name: "python",
    title: "Python package",
    about: "pip installs through an index of yours, which leads on to the real one.",
    type: "pypi",
  },
  {
    name: "npm",
    title: "npm package",
    about: "An install script reports each installation.",
    type: "npm",
  },
  { name: "pixel", title: "Page views", about: "An image in your documentation or readme counts views." },
];

export function caseNamed(name: string | null): Case | undefined {
  return CASES.find((each) => each.name === name);
}

export function CaseList() {
  const { href, owner } = useVisit();
  return (
    <>
      <Panel title="Paste the page of your package">
        <Form action="page" to={href(path`/o/${owner.name}/new`)}>
          <Field
            name="page"
            label="On PyPI, npm, Docker Hub, GitHub, crates.io, RubyGems or Homebrew"
            required
            placeholder="https://pypi.org/project/you-tools/"
            hint="What the registry counted so far is here a minute later. Who your users are, you see once they come through your host: choose a case below."
          />
          <Button>Show its counts</Button>
        </Form>
      </Panel>
      <Cases />
    </>
  );
}

function Cases() {
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
