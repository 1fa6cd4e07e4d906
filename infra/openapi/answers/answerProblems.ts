import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { operations } from '../../../shared/contract/operations.ts';
import { parseInt64 } from '../../../shared/contract/values/parseInt64.ts';
import type { ResponseObject } from '../openApi.ts';
import { document, findOperation } from './document.ts';
import { documentedAnywhere, findHeaderProblems } from './headerProblems.ts';
import { findSchemaProblems } from './schemaProblems.ts';

/** An answer without its body. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Headers;
}

export interface WholeAnswer extends AnswerHead {
  readonly bytes: Buffer;
}

/**
 * Holds an answer against the document: its status, each of its headers and its body, which may have
 * nothing that the document does not tell of, but for members of objects. What is no operation's answer
 * has to be an Error with headers that others have too; of a preflight, the document says nothing.
 * @param path relative to the base address
 * @returns what is wrong, a sentence each; nothing, when the answer is as documented
 */
export function findAnswerProblems(
  method: string,
  path: string,
  answer: WholeAnswer,
): readonly string[] {
  if (method === 'OPTIONS') return [];
  const documented = findDocumented(method, path, answer.status);
  if (!documented) return [toUndocumented(method, path, answer)];
  const { headers, body, isText } = documented;
  const problems = findHeaderProblems(answer.headers, headers);
  if (isText) return [...problems, ...findTypeProblems(answer, 'text/plain')];
  if (body !== undefined) return [...problems, ...findBodyProblems(answer, body)];
  return answer.bytes.length === 0 ? problems : [...problems, 'The body is not empty.'];
}

/** As `findAnswerProblems`, of an answer whose body is read in another way, or not at all. */
export function findHeadProblems(
  method: string,
  path: string,
  head: AnswerHead,
): readonly string[] {
  const documented = findDocumented(method, path, head.status);
  if (!documented) return [toUndocumented(method, path, head)];
  return findHeaderProblems(head.headers, documented.headers);
}

interface Documented {
  readonly headers: ResponseObject['headers'];
  /** Where in the document the body's schema stands; nothing, when there is to be no body. */
  readonly body?: string;
  /** Whether the body is plain text, which needs no schema. */
  readonly isText?: boolean;
}

function findDocumented(method: string, path: string, status: number): Documented | undefined {
  const operationId = findOperation(method, path);
  if (operationId === undefined) {
    return { headers: documentedAnywhere, body: '#/components/schemas/Error' };
  }
  const { path: template } = operations[operationId];
  const response = document.paths[template]?.[method.toLowerCase()]?.responses[status];
  if (!response) return undefined;
  const segments = ['paths', template, method.toLowerCase(), 'responses', `${status}`];
  const body = toPointer([...segments, 'content', 'application/json', 'schema']);
  const isText = 'text/plain' in (response.content ?? {});
  return { headers: response.headers, isText, ...(response.content && { body }) };
}

function toUndocumented(method: string, path: string, { status }: AnswerHead): string {
  return `The document has no status ${status} of ${findOperation(method, path)}.`;
}

function findBodyProblems({ headers, bytes }: WholeAnswer, pointer: string): string[] {
  const wrongType = findTypeProblems({ headers }, 'application/json');
  if (wrongType.length > 0) return wrongType;
  const inexact: string[] = [];
  let value: unknown;
  try {
    const json = toDecoded(headers.get('Content-Encoding'), bytes).toString('utf8');
    value = JSON.parse(json, (key, member, { source = '' } = {} as Source) => {
      // No number of the interface is anything but an int64, digit for digit as it is written.
      if (typeof member === 'number' && parseInt64(source) === undefined) {
        inexact.push(`${key} is ${source}, which is no int64.`);
      }
      return member;
    });
  } catch (error) {
    return [`The body is not JSON: ${(error as Error).message}.`];
  }
  return [...inexact, ...findSchemaProblems(pointer, value)];
}

/** @throws {Error} when it is not compressed as its header says */
function toDecoded(coding: string | null, bytes: Buffer): Buffer {
  if (coding === 'zstd') return zstdDecompressSync(bytes);
  return coding === 'gzip' ? gunzipSync(bytes) : bytes;
}

function findTypeProblems({ headers }: Pick<WholeAnswer, 'headers'>, wanted: string): string[] {
  const type = headers.get('Content-Type') ?? '';
  return type.split(';')[0]?.trim().toLowerCase() === wanted
    ? []
    : [`The Content-Type is "${type}".`];
}

interface Source {
  readonly source?: string;
}

function toPointer(segments: readonly string[]): string {
  const escaped = segments.map((one) => one.replaceAll('~', '~0').replaceAll('/', '~1'));
  return `#/${escaped.map(encodeURIComponent).join('/')}`;
}
