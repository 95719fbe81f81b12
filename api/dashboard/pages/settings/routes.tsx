import type { PackageRouteV1 } from "../../../../schemas/contracts/package-route.js";
import { Button, ConfirmButton } from "../../parts/button.js";
import { Field, Form } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";
import { Table } from "../../parts/table.js";

interface RoutesProps {
  routes: readonly PackageRouteV1[];
  mayChange: boolean;
}

/** The requests that a file package accepts, and where they lead. */
export function Routes({ routes, mayChange }: RoutesProps) {
  return (
    <Panel title="Routes">
      <Table
        caption="Routes"
        columns={[
          { name: "Path" },
          { name: "Leads to" },
          ...(mayChange ? [{ name: "Remove", isUnnamed: true }] : []),
        ]}
        rows={routes.map(({ id, templatePath, outgoingUrl }) => [
          <code>{templatePath}</code>,
          outgoingUrl === "" ? (
            <span class="soft">Nowhere: it only collects</span>
          ) : (
            <code>{outgoingUrl}</code>
          ),
          ...(mayChange ? [<Removal id={id} />] : []),
        ])}
        empty="There is no route yet: no request is counted."
      />
      {mayChange && (
        <Form action="add-route">
          <Field
            name="templatePath"
            label="Path"
            required
            placeholder="/web/{version}/{file}"
            hint="{version} and {platform} are counted as such; every other name is a variable. {+file} may span slashes."
          />
          <Field
            name="outgoingUrl"
            label="Leads to"
            placeholder="https://github.com/acme/web/releases/download/{version}/{file}"
            hint="Left empty, the route only collects."
          />
          <Button>Add route</Button>
        </Form>
      )}
    </Panel>
  );
}

function Removal({ id }: { id: string }) {
  return (
    <ConfirmButton
      action={`remove-route ${id}`}
      label="Remove"
      question="Requests for it are answered 404 from then on. What was counted stays."
    />
  );
}
