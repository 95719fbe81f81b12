-- What does each aggregate look like as a line of AggregateV1? Fields of other breakdowns are absent.
-- An override changes nothing here: the rows are those of aggregates.sql.
SELECT concat(
  '{"breakdown":"', breakdown, '","date":"', toString(date), '","package":"', package, '","total":', toString(total),
  multiIf(
    breakdown = 'company', concat(',"company_name":', toJSONString(first), if(second = '', '', concat(',"company_domain":', toJSONString(second)))),
    breakdown = 'cloud_provider', concat(',"cloud_provider_name":', toJSONString(first), if(second = '', '', concat(',"cloud_provider_domain":', toJSONString(second)))),
    breakdown = 'country', concat(',"country":', toJSONString(first)),
    breakdown = 'platform', concat(',"platform":', toJSONString(first)),
    breakdown = 'version', concat(',"version":', toJSONString(first)),
    breakdown = 'client', concat(',"client":', toJSONString(first), if(second = '', '', concat(',"client_version":', toJSONString(second)))),
    breakdown = 'variable', concat(',"variable":', toJSONString(first), ',"value":', toJSONString(second)),
    concat(',"unique_total":', toString(unique_total))),
  '}') AS line
