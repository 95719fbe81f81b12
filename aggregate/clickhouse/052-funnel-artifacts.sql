-- Whose is which package or pixel, and how many points is one download or view of it worth?
-- Put together anew for each group of owners that the funnel looks at, and forgotten within a day: an override changes
-- nothing in it.
CREATE TABLE IF NOT EXISTS funnel_artifacts
(
  batch    UUID,
  artifact UUID,
  -- Of the owner in the group, from 0.
  place    UInt32,
  points   Float64,
  created  DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (batch, artifact)
TTL created + INTERVAL 1 DAY;
