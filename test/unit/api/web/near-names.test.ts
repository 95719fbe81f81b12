import { nearNames, wantedAt } from "../../../../api/web/near-names.js";
import { testTable } from "../../../support/test-table.js";

const named = ["toolkit", "toolkit-server", "Webhooks", "web", "left-pad"].map((name) => ({ name }));

testTable("%s means %j", (wanted) => nearNames(wanted, named).map(({ name }) => name), [
  ["tolkit", ["toolkit"]],
  ["webhook", ["Webhooks", "web"]],
  ["toolkit", ["toolkit", "toolkit-server"]],
  ["zebra", []],
  ["a", []],
]);

testTable("%s asks for %j", wantedAt, [
  ["/dashboard/o/acme/packages/%40acme%2Fweb", "@acme/web"],
  ["/dashboard/o/acme/packages/01a1fbad-cab4-710c-82a1-b3f3576e59e4", "acme"],
  ["/docs/guide/webhok", "webhok"],
  ["/dashboard/%zz", "%zz"],
  ["/dashboard", ""],
]);
