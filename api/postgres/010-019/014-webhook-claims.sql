-- Which deliveries does a worker have? Counted of each webhook whenever more are claimed, beside thousands that wait.
-- Overrides of events are nothing to it.
create index webhook_deliveries_under_way on webhook_deliveries (webhook_id, next_attempt_at)
  where state = 'pending' and claim is not null;
