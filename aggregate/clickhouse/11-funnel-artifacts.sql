-- Which owner does a package or pixel belong to, and how many points is one download or view of it worth?
-- Written for each group of owners that the funnel looks at, and dropped within a day.
CREATE TABLE IF NOT EXISTS funnel_artifacts
(
  batch    UUID,
  artifact UUID,
  -- Index of the owner in the group, from 0.
  place    UInt32,
  points   Float64,
  created  DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (batch, artifact)
TTL created + INTERVAL 1 DAY;
