-- What a month cost a stage, by AWS's bill: one view for each answer. `npx petstore costs report` runs this file in
-- DuckDB (https://duckdb.org), and writes the views as a page. Before, it sets
-- * the views `cur` and `focus`: the lines of all files, each column as text, an empty one as NULL, and `tags` as JSON;
-- * the table `list_price`: AWS's prices of infra/costs/prices, by region, with patterns of service and usage type;
-- * the variables `service`, `stage`, `stages` (all that there are), and `month` (such as 2026-10, or NULL).
-- Money is DECIMAL, never a rounded binary number. Days are in UTC. Tables are steps to several answers: a view would
-- be planned again for each.

CREATE MACRO needed(text) AS coalesce(text, error('A value is missing.'));
-- DuckDB reads 1_000 as 1000.
CREATE MACRO money(text) AS CAST(replace(text, '_', '?') AS DECIMAL(38, 15));
-- A tag's names: user_stage in CUR 2.0, resourceTags/stage in its newer column, user:stage or stage in FOCUS.
CREATE MACRO tag(tags, name) AS nullif(regexp_extract(tags,
  '"(?i:resource_?tags[/_.])?(?:user[:_])?' || name || '"\s*:\s*"([^"]+)"', 1), '');

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
  BillingPeriodStart, ChargePeriodStart, ChargePeriodEnd, ConsumedQuantity, BilledCost, NULL, ListCost, EffectiveCost,
  SkuPriceId, BillingCurrency
FROM focus;

-- The lines, summed: those of others by their month.
CREATE TABLE line AS
WITH judged AS (
  SELECT *, tag(tags, 'service') AS service_tag, tag(tags, 'stage') AS stage_tag,
    ':\s*"' || getvariable('service') AS begin,
    CASE WHEN NOT json_valid(tags) OR upper(currency) IS DISTINCT FROM 'USD' THEN error('No JSON, or another currency.')
    WHEN service_tag = getvariable('service') AND stage_tag = getvariable('stage') THEN 'ours'
    WHEN service_tag = getvariable('service') AND list_contains(getvariable('stages'), stage_tag) THEN 'others'
    WHEN service_tag = getvariable('service') THEN 'no stage'
    WHEN regexp_matches(tags, begin, 'i') THEN 'other names'
    WHEN stage_tag = getvariable('stage') THEN 'no service'
    WHEN service_tag IS NULL AND stage_tag IS NULL THEN 'none' ELSE 'others' END AS tagging
  FROM raw_line
)
SELECT file, coalesce(account, '') AS account, coalesce(region, '') AS region, coalesce(service, '') AS service,
  coalesce(usage_type, '') AS usage_type, charge, is_committed, is_unpaid, tagging,
  -- Such as "user_Stage":"production".
  coalesce(nullif(array_to_string(list_sort(regexp_extract_all(tags, '(?i)"[^"]*' || CASE tagging
    WHEN 'no stage' THEN 'stage":\s*"' WHEN 'no service' THEN 'service":\s*"' WHEN 'other names' THEN '"' || begin END
    || '[^"]*"')), ' '), ''), 'no such tag') AS tag_text,
  strftime(CAST(coalesce(period, needed("from")) AS TIMESTAMPTZ), '%Y-%m') AS month,
  CASE WHEN tagging <> 'others' THEN CAST(needed("from") AS TIMESTAMPTZ) END AS "from",
  CASE WHEN tagging <> 'others' THEN CAST(needed("to") AS TIMESTAMPTZ) END AS "to",
  CASE WHEN tagging = 'ours' THEN regexp_extract(resource,
    ':function:' || getvariable('service') || '-' || getvariable('stage') || '-(\w+)', 1) END AS function,
  sum(money(quantity)) AS quantity, sum(money(needed(gross))) AS gross, sum(money(net)) AS net,
  sum(money(coalesce(net, gross))) AS net_or_gross, sum(money(list)) AS list, sum(money(effective)) AS effective,
  -- The share of lines of ours that the file has already.
  1 - count(DISTINCT CASE WHEN tagging = 'ours' THEN hash(id, resource, quantity, gross) END) / count(*) AS repeated
FROM judged GROUP BY ALL;

-- What a usage type is: a unit that the model prices, or else AWS's own name without its region
-- (https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-region-billing-codes.html).
CREATE TABLE kind AS
SELECT l.service, l.usage_type, type, count(unit) > 0 AS is_priced,
  coalesce(any_value(unit), type || ' of ' || l.service) AS kind,
  is_priced OR regexp_matches(l.service, 'lambda|dynamodb|api ?gateway', 'i') AS is_ours,
  CASE WHEN type LIKE '%CapacityUnit%' THEN 'provisioned'
    WHEN l.service ILIKE '%lambda%' AND type NOT LIKE '%ARM%' THEN 'x86' END AS mode
FROM (
  SELECT DISTINCT service, usage_type,
    regexp_replace(usage_type, '^([A-Z]{2,4}[0-9]|EU|CPT|Global|[a-z]{2}(-[a-z]+)+-[0-9])-', '') AS type FROM line
) l LEFT JOIN (SELECT DISTINCT unit, service, usage_type FROM list_price) p
  ON regexp_matches(l.service, p.service, 'i') AND regexp_full_match(type, p.usage_type)
GROUP BY l.service, l.usage_type, type;

-- The month of the page: the one asked for, or the newest of the files.
CREATE TABLE this_month AS
SELECT month, CAST(month || '-01' AS DATE) AS start, strftime(start, '%B %Y') AS name,
  strftime(start - INTERVAL 1 MONTH, '%Y-%m') AS before, months
FROM (SELECT coalesce(getvariable('month'), max(month)) AS month,
  string_agg(DISTINCT month, ', ' ORDER BY month) AS months FROM line);

-- What was paid of each line that is ours or may be. Where a file has costs after private discounts, those count, and
-- its lines of discounts are in them already.
CREATE TABLE bill AS
WITH discounted AS (SELECT file, coalesce(bool_or(net <> 0), false) AS has_net FROM line GROUP BY file)
SELECT line.*, type, kind.kind, is_priced, is_ours, mode, "to" - "from" <= INTERVAL 1 DAY AS is_daily,
  CAST("from" AS DATE) AS day, usage_type LIKE '%ApiGatewayRequest' AS is_request,
  CASE WHEN is_unpaid THEN 0 WHEN NOT has_net THEN gross
    WHEN charge = 'discount' THEN coalesce(net, 0) ELSE net_or_gross END AS paid
FROM line JOIN kind USING (service, usage_type) JOIN discounted USING (file)
WHERE tagging IN ('ours', 'no stage', 'other names') OR tagging <> 'others' AND (is_ours OR charge <> 'usage');

-- All that is of the stage: the lines with both tags.
CREATE TABLE ours AS SELECT bill.* FROM bill JOIN this_month USING (month) WHERE tagging = 'ours';
CREATE TABLE our_usage AS SELECT * FROM ours WHERE charge = 'usage';

-- The sum paid, by charge, and at AWS's list prices where the bill has them.
CREATE VIEW paid AS
SELECT charge, sum(paid) AS dollars, sum(list) FILTER (WHERE charge = 'usage') AS list
FROM ours WHERE charge <> 'negation' GROUP BY charge ORDER BY charge <> 'usage', charge;

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

-- Of days in a row, such as `7 October` or `7 October to 9 October`.
CREATE MACRO span(day) AS strftime(min(day), '%-d %B') || if(count(*) > 1, strftime(max(day), ' to %-d %B'), '');

-- Each kind of usage by day: its dollars, and its quantity a request for kinds that the model prices by request.
CREATE TABLE kind_days AS
WITH daily AS (
  SELECT * FROM bill JOIN this_month t ON bill.month IN (t.month, t.before)
  WHERE tagging = 'ours' AND charge = 'usage' AND is_daily
), requests AS (
  SELECT day, sum(quantity) FILTER (WHERE is_request) AS requests FROM daily GROUP BY day
), used AS (
  SELECT day, kind, sum(paid) AS dollars, sum(quantity) AS quantity FROM daily GROUP BY ALL
), priced AS (
  SELECT kind, bool_or(is_per_request AND NOT is_request) AS is_per_request,
    coalesce(avg(p.dollars) FILTER (WHERE p.region = daily.region), sum(paid) / nullif(sum(quantity), 0)) AS price
  FROM daily LEFT JOIN list_price p ON unit = kind GROUP BY kind
)
SELECT day, kind, coalesce(dollars, 0)::DOUBLE AS dollars, price * requests AS dollars_of_one,
  CASE WHEN is_per_request THEN coalesce(quantity, 0)::DOUBLE / nullif(requests, 0) END AS a_request
FROM requests CROSS JOIN priced LEFT JOIN used USING (day, kind);

-- Days on which a kind of usage differs from the median of up to 14 earlier days, by more than the largest of five times
-- their median deviation, 20 %, and 50 cents: in dollars, or in its quantity a request, where it has one. The first six
-- days have too few before them.
CREATE MACRO differs(amount, usual, least) AS coalesce(abs(amount - usual) > least, false);
CREATE TABLE unusual_day AS
WITH usual AS (
  SELECT *, row_number() OVER (PARTITION BY kind ORDER BY day) AS number,
    median(dollars) OVER earlier AS usual_dollars, median(a_request) OVER earlier AS usual_a_request,
    greatest(5 * mad(dollars) OVER earlier, 0.2 * usual_dollars, 0.5) AS least,
    greatest(5 * mad(a_request) OVER earlier, 0.2 * usual_a_request, 0.5 / nullif(dollars_of_one, 0)) AS least_a_request,
    avg(dollars) OVER (PARTITION BY kind ORDER BY day ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS dollars_after
  FROM kind_days WINDOW earlier AS (PARTITION BY kind ORDER BY day ROWS BETWEEN 14 PRECEDING AND 1 PRECEDING)
)
SELECT usual.*, number - row_number() OVER (PARTITION BY kind ORDER BY day) AS run,
  differs(a_request, usual_a_request, least_a_request) AS is_a_request
FROM usual JOIN this_month ON strftime(day, '%Y-%m') = month
WHERE number >= 7 AND (differs(dollars, usual_dollars, least) OR is_a_request);

-- One line for unusual days in a row: their averages, what was usual before the first, and the average after the last.
CREATE VIEW unusual_days AS
SELECT span(day) AS days, kind, avg(dollars) AS dollars, arg_min(usual_dollars, day) AS usual_dollars,
  arg_max(dollars_after, day) AS dollars_after,
  avg(a_request) FILTER (WHERE is_a_request) AS a_request,
  arg_min(usual_a_request, day) FILTER (WHERE is_a_request) AS usual_a_request
FROM unusual_day GROUP BY kind, run ORDER BY min(day), kind;

-- By day of the month, for lines of at most a day.
CREATE VIEW days AS
SELECT date_part('day', day) AS number, strftime(day, '%-d %B') AS day, sum(paid) AS dollars,
  our_usage.day IN (SELECT day FROM unusual_day) AS is_unusual
FROM our_usage WHERE is_daily AND strftime(our_usage.day, '%Y-%m') = month GROUP BY ALL ORDER BY number;

-- A million requests of the gateway, before credits, refunds, tax and fees; and the function of a thousand calls of
-- adjustInventory, if the lines name it.
CREATE VIEW requests AS
SELECT coalesce(sum(quantity) FILTER (WHERE is_request), 0) AS requests,
  1e6 * sum(paid) / nullif(requests, 0) AS dollars, 1e6 * sum(list) / nullif(requests, 0) AS list,
  sum(quantity) FILTER (WHERE function = 'adjustInventory' AND usage_type LIKE '%Request%') AS calls,
  1000 * sum(paid) FILTER (WHERE function = 'adjustInventory') / nullif(calls, 0) AS dollars_of_calls
FROM our_usage;

-- Days of the month without lines of an account that has some on others, with the median of those. Days on which usage
-- without our tags costs half as much as ours lack the tags, not the lines.
CREATE TABLE gaps AS
WITH daily AS (
  SELECT account, day, sum(paid) FILTER (WHERE tagging = 'ours') AS dollars,
    sum(paid) FILTER (WHERE tagging <> 'ours') AS rest
  FROM bill WHERE charge = 'usage' AND is_daily GROUP BY account, day
), usual AS (
  SELECT account, median(dollars) AS dollars
  FROM daily JOIN this_month ON strftime(day, '%Y-%m') = month GROUP BY account
), calendar AS (
  SELECT CAST(unnest(range(start, start + INTERVAL 1 MONTH, INTERVAL 1 DAY)) AS DATE) AS day
  FROM this_month
)
SELECT account, day, usual.dollars, day - CAST(row_number() OVER (PARTITION BY account ORDER BY day) AS INT) AS run
FROM usual CROSS JOIN calendar LEFT JOIN daily USING (account, day)
WHERE daily.dollars IS NULL AND usual.dollars / 2 >= coalesce(rest, 0);

-- One kind of charge, account, region and hour (a day of what has not our tags) in several files: all but the largest
-- of their sums may be there twice. A line that names no region may be of any.
CREATE TABLE in_files AS
WITH spread AS (
  SELECT *, tagging = 'ours' AS is_paid, if(is_paid, 'hour', 'day') AS unit, generate_series(
    date_trunc(unit, "from"), greatest("from", "to" - INTERVAL 1 SECOND), CAST('1 ' || unit AS INTERVAL)) AS times
  FROM bill JOIN this_month USING (month) WHERE (SELECT count(DISTINCT file) FROM line) > 1
), timed AS (
  SELECT file, is_paid, charge, type, account, region, time, sum(part) AS dollars
  FROM (SELECT *, unnest(times) AS time, paid / len(times) AS part FROM spread) GROUP BY ALL
), placed AS (
  SELECT * REPLACE (if(bool_and(region <> '') OVER (PARTITION BY is_paid, charge, type, account, time), region, '')
    AS region) FROM timed
), shared AS (
  SELECT *, list_sort(list(DISTINCT file) OVER (PARTITION BY is_paid, charge, type, account, region, time)) AS files
  FROM placed QUALIFY len(files) > 1
), sums AS (
  SELECT is_paid, files, file, sum(dollars) AS dollars FROM shared GROUP BY ALL
)
SELECT is_paid, files, sum(dollars) - arg_max(dollars, abs(dollars)) AS dollars FROM sums GROUP BY ALL
HAVING is_paid OR sum(dollars) <> 0;

CREATE MACRO dollar(amount) AS
  format('{}${:,.2f}', if(round(amount, 2) < 0, '−', ''), round(abs(amount), 2)::DOUBLE);
CREATE MACRO few(texts) AS array_to_string(texts[:4], ', ')
  || if(len(texts) > 4, ', and ' || (len(texts) - 4) || ' more', '');

-- What makes the sum doubtful, with its dollars.
CREATE VIEW doubts AS
WITH parts AS (
  -- A Savings Plan pays for what it covers, also of usage without tags.
  SELECT tagging, tag_text, kind, if(account IN (SELECT account FROM ours), 'account ' || account,
      'accounts without usage of this stage') AS place,
    sum(CASE WHEN is_committed THEN coalesce(effective, gross) ELSE paid END) AS dollars
  FROM bill JOIN this_month USING (month)
  WHERE tagging <> 'ours' AND (charge = 'usage' OR tagging IN ('no stage', 'other names'))
  GROUP BY ALL HAVING dollars <> 0
), left_out AS (
  SELECT tagging, place, sum(dollars) AS dollars,
    few(list(kind || ' ' || dollar(dollars) ORDER BY abs(dollars) DESC)) AS kinds,
    few(list_sort(list_distinct(flatten(list(texts))))) AS tags
  FROM (SELECT tagging, place, kind, sum(dollars) AS dollars, list(tag_text) AS texts FROM parts GROUP BY ALL)
  GROUP BY ALL
)
FROM (
SELECT 'No line of ' || month || ' has our two tags, service=' || getvariable('service') || ' and stage='
  || getvariable('stage') || '. The files have lines of ' || months || '; --month selects one.'
  || ' AWS tags what is used from the day on which both are active as cost allocation tags.' AS doubt, NULL AS dollars
FROM this_month WHERE NOT EXISTS (FROM ours)
UNION ALL
SELECT 'Several files have charges of the same kind, account and time, and all are counted: '
  || few(list_sort(list_distinct(flatten(list(files)))))
  || coalesce('. Other doubts have another ' || dollar(sum(dollars) FILTER (WHERE NOT is_paid)) || ' of such charges',
    '') || '. If the files are versions or formats of one bill, give only one.'
  || ' If they are parts of one export, nothing is counted twice.', coalesce(sum(dollars) FILTER (WHERE is_paid), 0)
FROM in_files HAVING count(*) > 0
UNION ALL
SELECT file || ' has the same lines more than once, and all are counted. Export it again.', sum(paid * repeated)
FROM ours WHERE repeated > 0 GROUP BY file
UNION ALL
SELECT 'Account ' || account || ' has no lines of this stage for ' || few(list(days ORDER BY run))
  || '. The dollars are an estimate, by the median of the stage''s other days there.', sum(dollars)
FROM (SELECT account, run, span(day) AS days, sum(dollars) AS dollars FROM gaps GROUP BY account, run) GROUP BY account
UNION ALL
SELECT 'Not in the sum: ' || CASE tagging
    WHEN 'none' THEN 'usage without the tags service and stage, of kinds that this service uses: ' || kinds
    ELSE CASE tagging
      WHEN 'other names' THEN 'lines with a tag that is almost ours: '
      WHEN 'no stage' THEN 'lines with our service''s tag, but not the tag of a known stage: '
      ELSE 'usage with this stage''s tag, but not our service''s: ' END || tags || ' (' || kinds || ')' END
  || ', in ' || place || '.'
  || if(tagging = 'none', ' Among them may be traces, custom metrics and log queries, which AWS never tags.', ''), dollars
FROM left_out
UNION ALL
SELECT 'Not in the sum: ' || charge || ' without our two tags: '
  || few(list(dollar(dollars) || ' in account ' || account ORDER BY abs(dollars) DESC)) || '.', sum(dollars)
FROM (
  SELECT charge, account, sum(paid) AS dollars FROM bill JOIN this_month USING (month)
  WHERE charge NOT IN ('usage', 'negation') AND tagging IN ('none', 'no service') GROUP BY ALL HAVING dollars <> 0
) GROUP BY charge
UNION ALL
SELECT 'In the sum, but not in the model: ' || kind || coalesce(' (' || mode || ')', '') || '.', sum(paid)
FROM our_usage WHERE NOT is_priced GROUP BY kind, mode
UNION ALL
SELECT 'A Savings Plan or a reservation covers usage of ' || dollar(coalesce(sum(list), sum(gross)))
  || ' at list prices. ' || if(sum(effective) IS NULL, 'The bill does not say its part of the fee.',
    'The dollars are its part of the fee, as AWS divides it.')
  || ' Fees in the sum: ' || dollar((SELECT coalesce(sum(paid), 0) FROM ours WHERE charge = 'fee')) || '.',
  coalesce(sum(effective), sum(list), sum(gross))
FROM our_usage WHERE is_committed HAVING count(*) > 0
) ORDER BY dollars IS NOT NULL, round(abs(dollars), 2) DESC, doubt DESC;
