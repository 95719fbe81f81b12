/**
 * The target of a sign-in: the path with its query that `to` says, if it is a page of the dashboard, else the dashboard
 * itself. Anything else could lead a person who has just signed in to a page that somebody else made.
 */
export function redirectTarget(to: string): string {
  if (to.length > LENGTH_MAX || !/^\/dashboard([/?]|$)/.test(to) || /[\\\p{Cc}]/u.test(to)) return HOME;
  if (!URL.canParse(to, HERE)) return HOME;
  // Dot segments are gone from these, however they were written.
  const { origin, pathname, search } = new URL(to, HERE);
  const isPage =
    /^\/dashboard(\/|$)/.test(pathname) && !/^\/dashboard\/(sign-in|sign-out|api)(\/|$)/.test(pathname);
  return origin === HERE && isPage ? pathname + search : HOME;
}

const HERE = "http://here.invalid";
const HOME = "/dashboard";
const LENGTH_MAX = 2000;
