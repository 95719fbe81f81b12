import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../schemas/contracts/pixel.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import { REGISTRY_TITLES } from "../../features/sources/registries/registries.js";
import { path } from "../../web/address.js";
import { useVisit } from "../../web/page.js";
import { Button, Field, Form } from "../../web/parts/form.js";
import { Panel } from "../../web/parts/panel.js";

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
    about: "Import the access logs of your web server or CDN, or a file of events.",
    type: "other",
  },
  {
    name: "files",
    title: "Files",
    about: "Serve downloads from your own domain. Each download is counted and redirected to the file.",
    type: "other",
  },
  {
    name: "docker",
    title: "Docker image",
    about: "Put a host name in front of your registry to count every pull.",
    type: "docker",
  },
  {
    name: "python",
    title: "Python package",
    about: "Users install through your index; files still come from the upstream index.",
    type: "pypi",
  },
  {
    name: "npm",
    title: "npm package",
    about: "A small script in your package reports each install, if the user allows install scripts.",
    type: "npm",
  },
  {
    name: "pixel",
    title: "Page views",
    about: "Add an image to your documentation or readme to count views.",
  },
];

export function caseNamed(name: string | null): Case | undefined {
  return CASES.find((each) => each.name === name);
}

export function CaseList() {
  const { href, owner } = useVisit();
  return (
    <>
      <Panel title="Registry counts">
        <Form action="page" to={href(path`/o/${owner.name}/new`)}>
          <Field
            name="page"
            label="Package URL"
            required
            placeholder="https://pypi.org/project/you-tools/"
            hint={`The package's page on ${REGISTRY_TITLES}. You'll see the registry's counts within a minute. To see who downloads the package, set up one of the options below.`}
          />
          <Button>Fetch counts</Button>
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
