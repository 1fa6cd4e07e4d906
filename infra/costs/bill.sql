-- What a month cost a stage, by AWS's bill: one view for each answer. `npx petstore costs report` runs this file in
-- DuckDB (https://duckdb.org), and writes the views as a page. Before, it sets
-- * the views `cur` and `focus`: the lines of all files, each column as text, an empty one as NULL, the tags as JSON;
-- * the table `list_price`: AWS's prices of infra/costs/prices, by region, with patterns of service and usage type;
-- * the variables `service`, `stage`, `stages` (all that there are), and `month` (such as 2026-10, or NULL).
-- Money is DECIMAL, never a rounded binary number. Days are of UTC.

CREATE MACRO needed(text) AS coalesce(text, error('A value is missing.'));
-- DuckDB reads 1_000 as 1000.
CREATE MACRO money(text) AS CAST(replace(text, '_', '?') AS DECIMAL(38, 15));
-- A tag's names: user_stage in CUR 2.0, resourceTags/stage in its newer column, user:stage or stage in FOCUS.
CREATE MACRO tag(tags, name) AS list_filter(
  json_extract_string(tags, list_transform(
    ['user_', 'user:', '', 'resourceTags/user_', 'resourceTags/user:', 'resourceTags/'],
    lambda prefix: '$."' || prefix || name || '"')),
  lambda value: value <> '')[1];

-- All lines in the terms of both formats. `gross` is before private discounts, `net` after them.
CREATE VIEW raw_line AS
SELECT file, coalesce(line_item_usage_account_id, bill_payer_account_id) AS account, product_region_code AS region,
  line_item_product_code AS service, line_item_usage_type AS usage_type, line_item_resource_id AS resource, tags,
  CASE WHEN needed(line_item_line_item_type) IN ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage') THEN 'usage'
    WHEN line_item_line_item_type IN ('Tax', 'Credit', 'Refund') THEN lower(line_item_line_item_type)
    WHEN line_item_line_item_type LIKE '%Discount' THEN 'discount'
    WHEN line_item_line_item_type = 'SavingsPlanNegation' THEN 'negation' ELSE 'fee' END AS charge,
  line_item_line_item_type IN ('DiscountedUsage', 'SavingsPlanCoveredUsage') AS is_committed,
  -- A Savings Plan's fee pays for this; a negation takes the line's cost back.
  line_item_line_item_type IN ('SavingsPlanCoveredUsage', 'SavingsPlanNegation') AS is_unpaid,
  bill_billing_period_start_date AS period, line_item_usage_start_date AS "from", line_item_usage_end_date AS "to",
  line_item_usage_amount AS quantity, line_item_unblended_cost AS gross, line_item_net_unblended_cost AS net,
  pricing_public_on_demand_cost AS list,
  coalesce(savings_plan_savings_plan_effective_cost, reservation_effective_cost) AS effective,
  identity_line_item_id AS id, line_item_currency_code AS currency
FROM cur
UNION ALL
SELECT file, coalesce(SubAccountId, BillingAccountId), RegionId, coalesce(x_ServiceCode, ServiceName),
  coalesce(x_UsageType, SkuMeter), ResourceId, tags,
  CASE WHEN ChargeClass = 'Correction' THEN 'correction' WHEN ChargeCategory = 'Purchase' THEN 'fee'
    ELSE lower(needed(ChargeCategory)) END,
  ChargeCategory = 'Usage' AND CommitmentDiscountId IS NOT NULL, false,
  BillingPeriodStart, ChargePeriodStart, ChargePeriodEnd, ConsumedQuantity, BilledCost, NULL, ListCost, EffectiveCost, SkuPriceId, BillingCurrency
FROM focus;

-- The lines, summed: ours by their time, all others by their month.
CREATE TABLE line AS
WITH tagged AS (
  SELECT *, tag(tags, 'service') AS service_tag, tag(tags, 'stage') AS stage_tag,
    ':\s*"' || getvariable('service') AS begin
  FROM raw_line
), judged AS (
  SELECT *, CASE
    WHEN service_tag = getvariable('service') AND stage_tag = getvariable('stage') THEN 'ours'
    WHEN service_tag = getvariable('service') AND list_contains(getvariable('stages'), stage_tag) THEN 'others'
    WHEN service_tag = getvariable('service') THEN 'no stage'
    WHEN regexp_matches(tags, begin, 'i') THEN 'other names'
    WHEN stage_tag = getvariable('stage') THEN 'no service'
    WHEN service_tag IS NULL AND stage_tag IS NULL THEN 'none' ELSE 'others' END AS tagging
  FROM tagged
)
SELECT file, upper(currency) AS currency, coalesce(account, '') AS account, coalesce(region, '') AS region, coalesce(service, '') AS service,
  coalesce(usage_type, '') AS usage_type, charge, is_committed, is_unpaid, tagging,
  CASE tagging WHEN 'no stage' THEN 'stage=' || coalesce(stage_tag, '')
    WHEN 'no service' THEN 'service=' || coalesce(service_tag, '')
    WHEN 'other names' THEN array_to_string(list_sort(regexp_extract_all(tags, '(?i)"[^"]+"' || begin || '[^"]*"')), ' ')
    END AS tag_text,
  strftime(CAST(coalesce(period, needed("from")) AS TIMESTAMPTZ), '%Y-%m') AS month,
  CASE WHEN tagging = 'ours' THEN CAST(needed("from") AS TIMESTAMPTZ) END AS "from",
  CASE WHEN tagging = 'ours' THEN CAST(needed("to") AS TIMESTAMPTZ) END AS "to",
  CASE WHEN tagging = 'ours' THEN regexp_extract(resource,
    ':function:' || getvariable('service') || '-' || getvariable('stage') || '-(\w+)', 1) END AS function,
  sum(money(quantity)) AS quantity, sum(money(needed(gross))) AS gross, sum(money(net)) AS net,
  sum(money(coalesce(net, gross))) AS net_or_gross, sum(money(list)) AS list, sum(money(effective)) AS effective,
  -- The share of lines of ours that the file has already.
  1 - count(DISTINCT CASE WHEN tagging = 'ours' THEN hash(id, resource, quantity, gross) END) / count(*) AS repeated
FROM judged GROUP BY ALL;

-- What a usage type is: a unit that the model prices, or else AWS's own name without its region.
CREATE TABLE kind AS
SELECT l.service, l.usage_type, count(p.unit) > 0 AS is_priced, coalesce(bool_or(is_per_request), false) AS is_per_request,
  regexp_replace(l.usage_type, '^([A-Z]{2,4}[0-9]|EU|CPT|Global)-', '') AS type,
  coalesce(any_value(unit), type || ' of ' || l.service) AS kind,
  is_priced OR regexp_matches(l.service, 'lambda|dynamodb|api ?gateway', 'i') AS is_ours,
  CASE WHEN l.usage_type LIKE '%CapacityUnit%' THEN 'provisioned'
    WHEN l.service ILIKE '%lambda%' AND l.usage_type NOT LIKE '%ARM%' THEN 'x86' END AS mode
FROM (SELECT DISTINCT service, usage_type FROM line) l
LEFT JOIN list_price p ON regexp_matches(l.service, p.service, 'i') AND regexp_matches(l.usage_type, p.usage_type)
GROUP BY l.service, l.usage_type;

-- The month of the page: the one asked for, or the newest of the files.
CREATE VIEW this_month AS
SELECT month, strftime(CAST(month || '-01' AS DATE) - INTERVAL 1 MONTH, '%Y-%m') AS before
FROM (SELECT coalesce(getvariable('month'), max(month)) AS month FROM line);

-- What was paid of each line. Where a file has costs after private discounts, those count, and its lines of discounts
-- are in them already.
CREATE TABLE bill AS
WITH discounted AS (SELECT file, coalesce(bool_or(net <> 0), false) AS has_net FROM line GROUP BY file)
SELECT line.*, type, kind.kind, is_priced, is_per_request, is_ours, mode, "to" - "from" <= INTERVAL 1 DAY AS is_daily,
  CAST("from" AS DATE) AS day, usage_type LIKE '%ApiGatewayRequest' AS is_request,
  CASE WHEN is_unpaid THEN 0 WHEN NOT has_net THEN gross
    WHEN charge = 'discount' THEN coalesce(net, 0) ELSE net_or_gross END AS paid
FROM line JOIN kind USING (service, usage_type) JOIN discounted USING (file);

-- All that is of the stage: the lines with both tags.
CREATE VIEW ours AS SELECT bill.* FROM bill JOIN this_month USING (month) WHERE tagging = 'ours';
CREATE VIEW our_usage AS SELECT * FROM ours WHERE charge = 'usage';

-- The sum paid, by charge, and at AWS's list prices where the bill has them.
CREATE VIEW paid AS
SELECT charge, sum(paid) AS dollars, sum(list) FILTER (WHERE charge = 'usage') AS list
FROM ours WHERE charge <> 'negation' GROUP BY charge ORDER BY charge <> 'usage', charge;

-- Credits, refunds, tax, fees and the like that no tags give to a stage. They are not in the sum.
CREATE VIEW untagged_charges AS
SELECT charge, account, sum(paid) AS dollars FROM bill JOIN this_month USING (month)
WHERE charge NOT IN ('usage', 'negation') AND tagging IN ('none', 'no service')
GROUP BY ALL HAVING dollars <> 0 ORDER BY abs(dollars) DESC;

-- Each kind of usage in each region: dollars of a unit, beside AWS's list price where it is known, and the month before.
CREATE VIEW kinds AS
WITH sums AS (
  SELECT kind, region, sum(quantity) FILTER (WHERE bill.month = t.month) AS quantity,
    coalesce(sum(paid) FILTER (WHERE bill.month = t.month), 0) AS dollars,
    sum(paid) FILTER (WHERE bill.month = before) AS dollars_before
  FROM bill JOIN this_month t ON bill.month IN (t.month, before)
  WHERE tagging = 'ours' AND charge = 'usage' GROUP BY ALL
), models AS (SELECT DISTINCT unit AS kind, region, dollars AS model FROM list_price)
SELECT kind, region, quantity, dollars, dollars / nullif(quantity, 0) AS dollars_a_unit, model, dollars_before
FROM sums LEFT JOIN models USING (kind, region) ORDER BY abs(dollars) DESC, kind, region;

-- By account and region.
CREATE VIEW places AS
SELECT account, region, sum(paid) AS dollars FROM ours GROUP BY ALL ORDER BY abs(dollars) DESC;

-- By day of the month, for lines of at most a day.
CREATE VIEW days AS
SELECT strftime(day, '%Y-%m-%d') AS day, sum(paid) AS dollars,
  coalesce(sum(quantity) FILTER (WHERE is_request), 0) AS requests
FROM our_usage JOIN this_month ON strftime(day, '%Y-%m') = this_month.month WHERE is_daily GROUP BY ALL ORDER BY day;

-- Days on which a kind of usage differs from the median of up to 14 earlier days, by more than the largest of five times
-- their median deviation, 20 %, and 50 cents: in dollars, or in its quantity a request, for kinds that the model prices
-- by request. The first six days have too few before them.
CREATE VIEW kind_days AS
WITH daily AS (
  SELECT * FROM bill JOIN this_month t ON bill.month IN (t.month, t.before)
  WHERE tagging = 'ours' AND charge = 'usage' AND is_daily
), requests AS (
  SELECT day, sum(quantity) FILTER (WHERE is_request) AS requests FROM daily GROUP BY day
), used AS (
  SELECT day, kind, sum(paid) AS dollars, sum(quantity) AS quantity FROM daily GROUP BY ALL
), priced AS (
  SELECT kind, bool_or(daily.is_per_request AND NOT is_request) AS is_per_request,
    coalesce(avg(p.dollars), sum(paid) / nullif(sum(quantity), 0)) AS price
  FROM daily LEFT JOIN list_price p ON p.unit = kind AND p.region = daily.region GROUP BY kind
)
SELECT day, kind, coalesce(dollars, 0)::DOUBLE AS dollars, price * requests AS dollars_of_one,
  CASE WHEN is_per_request THEN coalesce(quantity, 0)::DOUBLE / nullif(requests, 0) END AS a_request
FROM requests CROSS JOIN priced LEFT JOIN used USING (day, kind);

CREATE VIEW odd_days AS
WITH usual AS (
  SELECT *, row_number() OVER (PARTITION BY kind ORDER BY day) AS number,
    median(dollars) OVER earlier AS usual_dollars, mad(dollars) OVER earlier AS deviation,
    median(a_request) OVER earlier AS usual_a_request, mad(a_request) OVER earlier AS deviation_a_request
  FROM kind_days WINDOW earlier AS (PARTITION BY kind ORDER BY day ROWS BETWEEN 14 PRECEDING AND 1 PRECEDING)
), odd AS (
  SELECT *, abs(dollars - usual_dollars) > greatest(5 * deviation, 0.2 * usual_dollars, 0.5) AS is_dollars,
    coalesce(abs(a_request - usual_a_request)
      > greatest(5 * deviation_a_request, 0.2 * usual_a_request, 0.5 / nullif(dollars_of_one, 0)), false) AS is_a_request,
    day - row_number() OVER (PARTITION BY kind, number < 7 OR NOT (is_dollars OR is_a_request) ORDER BY day)::INTEGER AS run
  FROM usual
)
-- One line for days in a row.
SELECT strftime(min(day), '%Y-%m-%d') AS first, strftime(max(day), '%Y-%m-%d') AS last, kind, avg(dollars) AS dollars,
  first(usual_dollars ORDER BY day) AS usual_dollars, avg(a_request) FILTER (WHERE is_a_request) AS a_request,
  first(usual_a_request ORDER BY day) AS usual_a_request
FROM odd JOIN this_month ON strftime(day, '%Y-%m') = month
WHERE number >= 7 AND (is_dollars OR is_a_request)
GROUP BY kind, run ORDER BY min(day), kind;

-- A million requests of the gateway, before credits, refunds, tax and fees; and the function of a thousand calls of
-- adjustInventory, if the lines name it.
CREATE VIEW requests AS
SELECT coalesce(sum(quantity) FILTER (WHERE is_request), 0) AS requests,
  1e6 * sum(paid) / nullif(requests, 0) AS dollars, 1e6 * sum(list) / nullif(requests, 0) AS list,
  sum(quantity) FILTER (WHERE function = 'adjustInventory' AND usage_type LIKE '%Request%') AS calls,
  1000 * sum(paid) FILTER (WHERE function = 'adjustInventory') / nullif(calls, 0) AS dollars_of_calls
FROM our_usage;

-- Days without lines, or half days, from the month's begin to its end. The nights of an idle stage are shorter.
CREATE VIEW gaps AS
WITH span AS (
  SELECT "from", "to" FROM our_usage WHERE is_daily
  UNION ALL
  SELECT unnest([start, start + INTERVAL 1 MONTH]), unnest([start, start + INTERVAL 1 MONTH])
  FROM (SELECT CAST(month || '-01' AS TIMESTAMPTZ) AS start FROM this_month)
)
SELECT max("to") OVER (ORDER BY "from", "to" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS gap_from, "from" AS gap_to
FROM span QUALIFY gap_to - gap_from >= INTERVAL 12 HOUR ORDER BY gap_from;

-- Usage of ours of one kind, account, region and hour in two files: the smaller of both sums may be there twice.
CREATE VIEW in_two_files AS
WITH hours AS (
  SELECT *, generate_series(date_trunc('hour', "from"), greatest("from", "to" - INTERVAL 1 SECOND), INTERVAL 1 HOUR) AS hours
  FROM our_usage
), hourly AS (
  SELECT file, type, account, region, hour, sum(part) AS dollars
  FROM (SELECT *, unnest(hours) AS hour, paid / len(hours) AS part FROM hours) GROUP BY ALL
)
SELECT a.file, b.file AS other, least(sum(a.dollars), sum(b.dollars)) AS dollars
FROM hourly a JOIN hourly b USING (type, account, region, hour) WHERE a.file < b.file GROUP BY ALL;

CREATE MACRO dollar(amount) AS
  format('{}${:,.2f}', CASE WHEN round(amount, 2) < 0 THEN '−' ELSE '' END, abs(amount)::DOUBLE);
CREATE MACRO few(texts) AS array_to_string(texts[:4], ', ')
  || CASE WHEN len(texts) > 4 THEN ', and ' || (len(texts) - 4) || ' more' ELSE '' END;
-- Such as `7 October`, `7 October to 9 October`, or `7 October 06:00 to 7 October 20:00`.
CREATE MACRO span(a, b) AS CASE WHEN date_trunc('day', a) = a AND date_trunc('day', b) = b
  THEN strftime(a, '%-d %B') || CASE WHEN b - a > INTERVAL 1 DAY THEN strftime(b - INTERVAL 1 DAY, ' to %-d %B') ELSE '' END
  ELSE strftime(a, '%-d %B %H:%M') || strftime(b, ' to %-d %B %H:%M') END;

-- What makes the sum doubtful, with its dollars.
CREATE VIEW doubts AS
WITH missed AS (
  SELECT c.*, CASE WHEN account IN (SELECT account FROM ours) THEN 'account ' || account
    ELSE 'accounts without usage of this stage' END AS place
  FROM bill c JOIN this_month USING (month)
), parts AS (
  -- A Savings Plan pays for what it covers, also of usage without tags.
  SELECT tagging, place, tag_text, kind, sum(CASE WHEN is_committed THEN coalesce(effective, gross) ELSE paid END) AS dollars
  FROM missed
  WHERE (tagging IN ('none', 'no service') AND charge = 'usage' AND is_ours) OR tagging IN ('no stage', 'other names')
  GROUP BY ALL HAVING dollars <> 0
), kinds_left_out AS (
  SELECT tagging, place, kind, sum(dollars) AS dollars FROM parts GROUP BY ALL
), left_out AS (
  SELECT tagging, place, sum(dollars) AS dollars,
    few(list(kind || ' ' || dollar(dollars) ORDER BY abs(dollars) DESC)) AS kinds,
    (SELECT few(list(DISTINCT tag_text ORDER BY tag_text)) FROM parts
      WHERE parts.tagging = k.tagging AND parts.place = k.place) AS tags
  FROM kinds_left_out k GROUP BY ALL
)
FROM (
SELECT 'No line of ' || month || ' has both tags, service=' || getvariable('service') || ' and stage=' || getvariable('stage')
  || '. AWS tags what is used from the day on which both are active as cost allocation tags.' AS doubt, NULL AS dollars
FROM this_month WHERE NOT EXISTS (FROM ours)
UNION ALL
SELECT 'Two files have usage of the same kind, account and time, and both are counted: ' || file || ' and ' || other
  || '. If they are two versions or formats of one bill, give one of them; parts of one export are right.', dollars FROM in_two_files
UNION ALL
SELECT file || ' has the same lines twice, and both are counted. Export it again.', sum(paid * repeated) FROM ours
WHERE repeated > 0 GROUP BY file
UNION ALL
SELECT 'There are no lines of ' || few(list(span(gap_from, gap_to) ORDER BY gap_from))
  || '. At the median of the other days, these would cost as much.',
  sum(epoch(gap_to - gap_from)) / 86400 * (SELECT median(dollars) FROM days)
FROM gaps WHERE EXISTS (FROM days) HAVING count(*) > 0
UNION ALL
SELECT 'Usage of our kinds has neither tag, and is not in the sum: ' || kinds || ', in ' || place
  || '. AWS never tags traces, custom metrics and log queries.', dollars FROM left_out WHERE tagging = 'none'
UNION ALL
SELECT 'Lines have tags of ours under other names or values, and are not in the sum: ' || tags || ' (' || kinds || '), in ' || place || '.',
  dollars FROM left_out WHERE tagging = 'other names'
UNION ALL
SELECT 'Lines have our service''s tag without the tag of a stage, and are not in the sum: ' || tags || ' (' || kinds || '), in ' || place || '.',
  dollars FROM left_out WHERE tagging = 'no stage'
UNION ALL
SELECT 'Usage of our kinds has the stage''s tag without our service''s, and is not in the sum: ' || tags || ' (' || kinds || '), in ' || place || '.',
  dollars FROM left_out WHERE tagging = 'no service'
UNION ALL
SELECT 'Usage with both tags has no price in the model, and is in the sum: ' || kind || coalesce(' (' || mode || ')', '') || '.', sum(paid)
FROM our_usage WHERE NOT is_priced GROUP BY kind, mode
UNION ALL
SELECT 'A Savings Plan or a reservation covers usage of ' || dollar(coalesce(sum(list), sum(gross))) || ' at list prices. '
  || CASE WHEN sum(effective) IS NULL THEN 'The bill does not say its part of the fee, which is not in the sum.'
    ELSE 'Its part of the fee, as AWS divides it, is not in the sum.' END
  || coalesce(' The bill has fees of ' || (SELECT string_agg(dollar(dollars) || ' in account ' || account, ', ')
    FROM untagged_charges WHERE charge = 'fee') || '.', ''), coalesce(sum(effective), sum(list), sum(gross))
FROM our_usage WHERE is_committed HAVING count(*) > 0
UNION ALL
SELECT 'Charges without both tags are not in the sum: ' || charge || '.', sum(dollars) FROM untagged_charges GROUP BY charge
) ORDER BY dollars IS NOT NULL, round(abs(dollars), 2) DESC, doubt DESC;
