import { readFileSync } from 'node:fs';
import type { Operation } from '../../../shared/contract/operation.ts';
import {
  type OperationId,
  operationIds,
  operations,
  operationTexts,
  responses,
  tagTexts,
} from '../../../shared/contract/operations.ts';
import { selectHeaderObjects } from './headers.ts';
import { documentation, type RecordedExample } from './openApi.ts';
import { toParameterObjects } from './parameters.ts';
import { selectExamples, toResponseObjects } from './responses.ts';
import { buildSchemas, selectSchemas } from './schemas.ts';

/** The version of the interface, not of its code. A new major version has its own base URL. */
const INTERFACE_VERSION = '1.4.0';

/** The API document, made of the contract, example addresses and recorded examples. */
export function defineOpenApiDocument(
  examples: Readonly<Record<OperationId, readonly RecordedExample[]>>,
) {
  const { components, schemaOf } = buildSchemas();
  /** By path, then by method in lower case. */
  const paths: Record<string, Record<string, ReturnType<typeof toOperationObject>>> = {};
  for (const id of operationIds) {
    const { path, method } = operations[id];
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: toOperationObject(id, schemaOf, examples[id]),
    };
  }
  return withAbsoluteLinks({
    openapi: '3.1.1',
    info: {
      title: 'Petstore Inventory Service',
      version: INTERFACE_VERSION,
      summary: 'A pet store’s inventory over HTTP and JSON.',
      description:
        'Every request needs an API key, every body is JSON, and every error of the service has a `code`, a `message` and a `status`. For everything else, read the guides: [first call](index.html), [selling](selling.html), [errors](errors.html), [retries and limits](retries.html), [safe updates](updates.html), [lists](lists.html), [int64](numbers.html), [changes](deprecations.html).',
      contact: buildContact('api@petstore.example'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Examples, since this document is the same for every deployment. The published copy has the stages' addresses.
    externalDocs: { description: 'The documentation', url: documentation },
    servers: [
      { url: 'https://api.petstore.example/v1', description: 'Production' },
      { url: 'https://api.staging.petstore.example/v1', description: 'Staging' },
    ],
    security: [{ apiKey: [] }],
    tags: Object.entries(tagTexts).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: selectSchemas(components, paths),
      headers: selectHeaderObjects(JSON.stringify(paths)),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'psk_…',
          description:
            'An API key, which starts with `psk_`, as a bearer token (RFC 6750 section 2.1).',
        },
      },
    },
  });
}

/** @param contact an e-mail address, or the address of a web page */
export function buildContact(contact?: string) {
  if (contact === undefined) return undefined;
  const name = 'The operators of the service';
  return contact.startsWith('https:') ? { name, url: contact } : { name, email: contact };
}

export type OpenApiDocument = ReturnType<typeof defineOpenApiDocument>;

let committed: OpenApiDocument | undefined;

/** Reads the document on first use: the program that writes it loads this module too, perhaps before it exists. */
export function readCommittedDocument(): OpenApiDocument {
  const file = new URL('../../../shared/contract/openapi.json', import.meta.url);
  committed ??= JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument;
  return committed;
}

/** The contract's links are relative to the guides, but the document is also read elsewhere. */
function withAbsoluteLinks<Document>(document: Document): Document {
  const text = JSON.stringify(document);
  return JSON.parse(text.replaceAll(/\]\((?=[a-z-]+\.html)/g, `](${documentation}`));
}

function toOperationObject(
  id: OperationId,
  schemaOf: ReturnType<typeof buildSchemas>['schemaOf'],
  recorded: readonly RecordedExample[],
) {
  const operation: Operation = operations[id];
  const { lifecycle } = operation;
  const { tag, description, success } = operationTexts[id];
  return {
    operationId: id,
    summary: operation.summary,
    description,
    tags: [tag],
    'x-stability': lifecycle.kind,
    ...(lifecycle.kind === 'deprecated' && {
      deprecated: true as const,
      'x-sunset': lifecycle.sunset.toISOString(),
    }),
    parameters: toParameterObjects(operation, recorded),
    ...(operation.requestBody && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: schemaOf(operation.requestBody),
            examples: selectExamples(recorded, 200, 'request'),
          },
        },
      },
    }),
    responses: toResponseObjects(
      operation,
      { description: success, schema: schemaOf(responses[id]) },
      recorded,
    ),
  };
}
