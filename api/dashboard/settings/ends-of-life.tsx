import type { EndOfLife, EndOfLifeUse } from "../../../schemas/contracts/end-of-life.js";
import { Problem } from "../../../schemas/problem.js";
import { path } from "../../web/address.js";
import type { Visit } from "../../web/page.js";
import { Button, Field, Form } from "../../web/parts/form.js";
import { formatDate, formatFull } from "../../web/parts/format.js";
import { Panel } from "../../web/parts/panel.js";
import { Table } from "../../web/parts/table.js";
import type { Form as Sent } from "../../web/read-form.js";

export function EndsOfLife({ ends }: { ends: readonly EndOfLifeUse[] }) {
  return (
    <Panel title="End of life">
      <Table
        caption="End of life"
        columns={[
          "Version",
          "End-of-life date",
          { name: "Downloads (30 days)", isNumber: true },
          { name: "Actions", isUnnamed: true },
        ]}
        rows={ends.map(({ version, date, downloads }) => [
          <bdi>{version}</bdi>,
          <time dateTime={date}>{formatDate(date)}</time>,
          formatFull(downloads),
          <Removal version={version} />,
        ])}
        empty="No end-of-life dates yet."
      />
      <Form action="end-of-life">
        <Field
          name="version"
          label="Version"
          required
          placeholder="1.x"
          hint="A version or a group of versions, for example 1.4.2, 1.4.x or 1.x."
        />
        <Field name="date" label="End-of-life date" type="date" required />
        <Button>Save date</Button>
      </Form>
    </Panel>
  );
}

function Removal({ version }: { version: string }) {
  return (
    <Form action="remove-end-of-life" class="inline">
      <input type="hidden" name="version" value={version} />
      <Button kind="quiet">
        Remove<span class="hidden"> end-of-life date of {version}</span>
      </Button>
    </Form>
  );
}

/** Sets the date of the form's version, or removes it where the form has none. */
export async function changeEndsOfLife({ api, owner, param }: Visit, form: Sent): Promise<void> {
  const at = path`/v2/packages/${owner.name}/${param("package")}/end-of-life`;
  const before = await api<{ versions: EndOfLife[] }>({ path: at });
  const version = form.text("version");
  const kept = before.versions
    .filter((end) => end.version !== version)
    .map((end) => ({ version: end.version, date: end.date }));
  const set = form.has("date") ? [{ version, date: form.text("date") }] : [];
  try {
    await api({ method: "PUT", path: at, body: { versions: [...set, ...kept] } });
  } catch (error) {
    throw error instanceof Problem ? besideFields(error) : error;
  }
}

/** The form has one of the versions, whose fields have the names of the form's. */
function besideFields({ code, message, errors = [] }: Problem): Problem {
  const named = errors.map((fault) => ({ ...fault, path: `/${fault.path.split("/").at(-1) ?? ""}` }));
  return new Problem(code, message, { errors: named });
}
