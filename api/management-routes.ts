import type { Pool } from "pg";
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
import type { TokenCipher } from "./tokens.js";

/** Every operation that needs nothing but PostgreSQL. */
export function managementRoutes({ pg, tokens }: { pg: Pool; tokens: TokenCipher }): Route[] {
  return [
    ...userRoutes({ pg, tokens }),
    ...apiTokenRoutes({ pg, tokens }),
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
