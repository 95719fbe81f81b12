-- What happened on a day? A part of events has rows of one month, or, before 2025, of one decade. An insert makes a part for
-- each: lines of all months since 1970 made 680 parts, and a hundred thousand of them kept ClickHouse busy for minutes.
-- A table that has rows keeps its months. An override changes nothing here.
{step(group_old_days)};

DROP TABLE IF EXISTS events_by_age SYNC;

DROP TABLE IF EXISTS events_by_age_views SYNC;
