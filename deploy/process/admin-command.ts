/** A pod's name is its host name; Docker gives containers their short id as one. */
const CONTAINER_ID = /^[0-9a-f]{12}$/;

interface Installed {
  dataDir: string;
  /** Of this process. */
  pid?: number;
}

/** The words before a command of the operator, as they are typed where this process was installed. */
export function adminCommandFor(
  env: Readonly<Record<string, string | undefined>>,
  { dataDir, pid = process.pid }: Installed,
): string {
  const admin = "maintainer-toolchain admin";
  const host = env["HOSTNAME"] ?? "";
  // Set by `npm run dev`, whose stores are elsewhere.
  if (env["ADMIN_COMMAND"]) return env["ADMIN_COMMAND"];
  // Scripts of npm are run in a clone; every other installation has the program in its path.
  if (env["npm_lifecycle_event"]) return "npm run admin --";
  if (env["KUBERNETES_SERVICE_HOST"] && host !== "") return `kubectl exec ${host} -- ${admin}`;
  if (CONTAINER_ID.test(host)) return `docker exec ${host} ${admin}`;
  // Terminals of a desktop inherit this variable from their own unit, with another process's id.
  if (env["SYSTEMD_EXEC_PID"] === String(pid))
    return `runuser -u ${env["USER"] ?? "maintainer"} -- env DATA_DIR=${dataDir} ${admin}`;
  return admin;
}
