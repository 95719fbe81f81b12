-- Which events does an erasure touch? Also those of which an erased version was an override: the earlier one is restored.
SELECT artifact, event_id FROM erased_versions WHERE erasure = {erasure:UUID}
