import type { TokenRoutesDeps } from "./accounts.js";
import type { Route } from "./route.js";
import { apiTokenRoutes } from "./routes/api-tokens.js";
import { auditRoutes } from "./routes/audit.js";
import { memberRoutes } from "./routes/members.js";
import { organizationRoutes } from "./routes/organizations.js";
import { packageDomainRoutes } from "./routes/package-domains.js";
import { packagePermissionRoutes } from "./routes/package-permissions.js";
import { packageRecordRoutes } from "./routes/package-records.js";
import { packageRouteRoutes } from "./routes/package-routes.js";
import { packageRoutes } from "./routes/packages.js";
import { pixelRoutes } from "./routes/pixels.js";
import { userRoutes } from "./routes/user.js";

/** Every operation that needs nothing but PostgreSQL. */
export function managementRoutes({ pg, tokens, onIssued }: TokenRoutesDeps): Route[] {
  return [
    ...userRoutes({ pg, tokens, onIssued }),
    ...apiTokenRoutes({ pg, tokens, onIssued }),
    ...auditRoutes({ pg }),
    ...organizationRoutes({ pg }),
    ...memberRoutes({ pg }),
    ...packageRoutes({ pg }),
    ...packageRecordRoutes({ pg }),
    ...packagePermissionRoutes({ pg }),
    ...packageRouteRoutes({ pg }),
    ...packageDomainRoutes({ pg }),
    ...pixelRoutes({ pg }),
  ];
}
