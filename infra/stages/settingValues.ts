import { apiVersion } from '../../shared/contract/operation.ts';
import { accountThrottle } from './stageSettings.ts';

const hostName = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function matches(pattern: RegExp): (value: unknown) => boolean {
  return (value) => isText(value) && pattern.test(value);
}

export function isWithin(min: number, max: number): (value: unknown) => boolean {
  return (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

export function isOrigins(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  if (new Set(value).size < value.length) return false;
  if (value.includes('*')) return value.length === 1;
  return value.every((origin) => isText(origin) && isOrigin(origin));
}

/**
 * As a browser sends it: without a path, a port that goes without saying, or upper case. It becomes part
 * of the gateway's expressions, where a quote would end the text.
 */
function isOrigin(text: string): boolean {
  return (
    /^https?:\/\/[\w.:[\]-]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text
  );
}

/** An https address as `URL` writes it, but for a slash at the end; it goes into a header's `<…>`. */
export function isAddress(value: unknown): value is string {
  if (!isText(value) || !/^https:[^?#]*[^/?#]$/.test(value) || !URL.canParse(value)) return false;
  return new URL(value).href.replace(/\/$/, '') === value;
}

/** @param domainName the name that it must have; any, when undefined */
export function isBaseAddress(value: unknown, domainName: string | undefined): boolean {
  if (!isAddress(value)) return false;
  const { host, pathname } = new URL(value);
  return pathname === `/${apiVersion}` && host === (domainName ?? host);
}

export function isEmailAddress(text: unknown): boolean {
  if (!isText(text)) return false;
  const [local = '', domain = '', ...more] = text.split('@');
  return more.length === 0 && /^[\w.!#$%&'*+/=?^`{|}~-]+$/.test(local) && hostName.test(domain);
}

export const isTopicArn = matches(/^arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/);

export function isThrottle(value: unknown): boolean {
  if (!hasExactly(value, 'rate', 'burst')) return false;
  const { rate, burst } = value;
  return (
    isPositive(rate) &&
    rate <= accountThrottle.rate &&
    isWithin(Math.min(rate, accountThrottle.burst), accountThrottle.burst)(burst)
  );
}

export function isCustomDomain(value: unknown, region: string | undefined): boolean {
  if (!hasExactly(value, 'name', 'certificateArn')) return false;
  if (!isText(value.name) || !isText(value.certificateArn)) return false;
  const [, certificateRegion] =
    /^arn:aws:acm:([a-z0-9-]+):\d{12}:certificate\/[\w-]+$/.exec(value.certificateArn) ?? [];
  return (
    hostName.test(value.name) &&
    certificateRegion !== undefined &&
    certificateRegion === (region ?? certificateRegion)
  );
}

export function isTraceSampling(value: unknown): boolean {
  if (!hasExactly(value, 'reservedPerSecond', 'percent')) return false;
  const { reservedPerSecond, percent } = value;
  return (
    isWithin(0, 1_000)(reservedPerSecond) && isNumber(percent) && percent >= 0 && percent <= 100
  );
}

/** AWS Budgets' limits: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_CreateBudget.html */
export function isBudget(value: unknown): boolean {
  if (!hasExactly(value, 'monthlyDollars', 'notify', 'actualPercent', 'forecastPercent'))
    return false;
  const { monthlyDollars, notify, actualPercent, forecastPercent } = value;
  return (
    isPositive(monthlyDollars) &&
    isListOf(notify, isEmailAddress) &&
    isListOf(actualPercent, isPositive) &&
    isListOf(forecastPercent, isPositive) &&
    isWithin(1, 10)(notify.length) &&
    isWithin(1, 5)(actualPercent.length + forecastPercent.length)
  );
}

/** Of values that are valid, each once. */
function isListOf(value: unknown, isValid: (one: unknown) => boolean): value is unknown[] {
  return Array.isArray(value) && value.every(isValid) && new Set(value).size === value.length;
}

export function isUnits(value: unknown): boolean {
  return hasExactly(value, 'read', 'write') && Object.values(value).every(isWithin(1, 1_000_000));
}

function hasExactly(value: unknown, ...names: string[]): value is Record<string, unknown> {
  return isRecord(value) && Object.keys(value).sort().join() === names.sort().join();
}

export function isPositive(value: unknown): value is number {
  return isNumber(value) && value > 0;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
