import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { PricingClient, paginateGetProducts } from '@aws-sdk/client-pricing';
import { log, toColumns, writeOut } from '../cli/output.ts';
import { type CostOptions, toDay } from './costOptions.ts';
import {
  allowances,
  type Price,
  type Prices,
  toPriceFile,
  type UsageKind,
  usageKinds,
  usageParts,
  withoutRegion,
} from './prices.ts';

/**
 * Reads the prices of a region from AWS, and writes the file that the model reads. A price that AWS does not list is
 * kept from the file, for prices that were looked up by hand.
 * @throws {Error} when a price is neither listed nor in the file, or listed twice; then nothing is written
 */
export async function runPrices({ region }: CostOptions<'prices'>, file = toPriceFile(region)) {
  const name = `infra/costs/prices/${region}.json`;
  const before: Prices | undefined = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8')).prices
    : undefined;
  // Three regions have this API, each with the prices of all regions.
  const client = new PricingClient({ region: 'us-east-1' });
  const prices: Record<string, Price> = {};
  for (const [service, own] of Map.groupBy(usageKinds, (kind) => usageParts[kind][2])) {
    const products = await readProducts(client, service, region);
    for (const kind of own) {
      const price = findPrice(kind, products) ?? before?.[kind];
      if (price === undefined) {
        const [, , , usageType] = usageParts[kind];
        throw new Error(
          `${service} lists no price of ${usageType} in ${region}. Look it up, write {"prices": {"${kind}": DOLLARS}} into ${name}, and run this again.`,
        );
      }
      prices[kind] = price;
      const { amount = 0, unit = usageParts[kind][1] } =
        allowances.find((one) => one.kind === kind) ?? {};
      const free = findFreeAmount(kind, products) ?? amount;
      if (free !== amount) {
        log(`AWS lists ${free} free ${unit} a month: correct infra/costs/allowances.json.`);
      }
    }
  }
  const source = 'GetProducts of the AWS Price List API';
  const table = { asOf: toDay(Date.now()), source, prices };
  writeFileSync(file, `${JSON.stringify(table, null, 2)}\n`);
  await writeOut(`Wrote ${name}. Commit it; npx petstore costs check HEAD says what changes.\n`);
  const rows = allowances.map(({ service, amount, unit, source }) => [
    service,
    amount.toLocaleString('en-US'),
    unit,
    source,
  ]);
  await writeOut(`Free each month, from infra/costs/allowances.json:\n${toColumns(rows)}\n`);
}

/** The text of a product, as far as it is read here. */
interface Product {
  readonly product: { readonly attributes: { readonly usagetype?: string } };
  readonly terms: { readonly OnDemand?: Record<string, { priceDimensions: Record<string, Step> }> };
}
type Step = { beginRange: string; endRange: string; pricePerUnit: { USD?: string } };

async function readProducts(client: PricingClient, ServiceCode: string, region: string) {
  const isTransfer = ServiceCode === 'AWSDataTransfer';
  const match = (Field: string, Value: string) => ({ Type: 'TERM_MATCH', Field, Value }) as const;
  const Filters = isTransfer
    ? [match('fromRegionCode', region), match('transferType', 'AWS Outbound')]
    : [match('regionCode', region)];
  const products: Product[] = [];
  const pages = paginateGetProducts({ client }, { ServiceCode, Filters });
  for await (const { PriceList = [] } of pages) {
    products.push(...[...PriceList].map((text) => JSON.parse(String(text))));
  }
  return products;
}

/** The steps of what the kind counts, also those of all regions together, which are free or of no interest. */
function findSteps(kind: UsageKind, products: readonly Product[], isGlobal: boolean): Step[] {
  const [, , , name, others] = usageParts[kind];
  const isMeant = ({ product }: Product) => {
    const { usagetype = '' } = product.attributes;
    const own = withoutRegion(usagetype);
    if (!isGlobal && usagetype.startsWith('Global-')) return false;
    return others ? others.test(own) : own === name;
  };
  return products
    .filter(isMeant)
    .flatMap(({ terms }) => Object.values(terms.OnDemand ?? {}))
    .flatMap(({ priceDimensions }) => Object.values(priceDimensions));
}

function findFreeAmount(kind: UsageKind, products: readonly Product[]): number | undefined {
  const free = findSteps(kind, products, true).find(
    ({ beginRange, endRange, pricePerUnit: { USD } }) =>
      Number(USD) === 0 && Number(beginRange) === 0 && endRange !== 'Inf',
  );
  return free && Number(free.endRange);
}

/**
 * A number, or the steps of a price that falls with use. Free steps are allowances, which are left out.
 * @returns `undefined` if AWS lists none
 */
function findPrice(kind: UsageKind, products: readonly Product[]): Price | undefined {
  const [, , , name] = usageParts[kind];
  const steps = findSteps(kind, products, false)
    .filter(({ pricePerUnit }) => Number(pricePerUnit.USD) > 0)
    .sort((one, other) => Number(one.beginRange) - Number(other.beginRange))
    .map(({ endRange, pricePerUnit: { USD } }) => ({
      ...(endRange !== 'Inf' && { upTo: Number(endRange) }),
      dollars: Number(USD),
    }))
    // Some are listed twice.
    .filter((step, index, all) => all.findIndex((one) => isDeepStrictEqual(one, step)) === index);
  const last = steps.findIndex(({ upTo }) => upTo === undefined);
  if (last !== steps.length - 1) throw new Error(`AWS lists several prices of ${name}.`);
  return steps.length === 1 ? steps[0]?.dollars : steps.length > 0 ? steps : undefined;
}
