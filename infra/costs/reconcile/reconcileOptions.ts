import { stageUsage } from '../../cli/stageOption.ts';

/** What `npm run costs -- --help` says of it. */
export const reconcileHelp = `npm run costs -- --reconcile FILE ${stageUsage} [--requests LIST | --traffic FILE] [options]

Holds a bill against the model: of each usage type, quantity and dollars as billed and as modelled for the
traffic, and the errors of the model's quantity, of its price and of both together in per cent. FILE is an
export of the costs: a Cost and Usage Report 2.0 or FOCUS, as CSV, also .gz, or Parquet. It must
have the tag "stage", which is a cost allocation tag; what does not carry the stage's is listed apart, and so
is what AWS gives no tags, such as traces. Credits, taxes and free allowances are not modelled.

  --reconcile FILE     the export
  --from, --to DAY     only what was used on these days, of UTC; default: all of the file, as one month
  --requests LIST, --traffic FILE
                       the requests of that time; default: those of infra/costs/change/traffic.json
  --entries N          the length of the inventory at that time
  --region REGION      whose prices count; default: the stage's
  --json               one document
`;

/** What `node:util` reads its options by. */
export const reconcileFlags = {
  reconcile: { type: 'string' },
  stage: { type: 'string' },
  region: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  entries: { type: 'string' },
  requests: { type: 'string' },
  traffic: { type: 'string' },
  json: { type: 'boolean' },
} as const;
