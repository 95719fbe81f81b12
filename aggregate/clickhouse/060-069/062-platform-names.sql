-- Which platforms are one? Gives the platforms of earlier events the names of schemas/contracts/platforms.ts: `linux` and
-- `Linux` were two rows of a day, and `darwin` and `macOS`.
-- An override or a retraction of an earlier event takes one from the row that the event was moved to, because its row in
-- events has the new name, too. Totals of a package and a day stay as they are.
-- The roles enrich and jobs must be stopped: rows of an older program may have the old names.
{step(name_platforms)};
