import { readFile } from 'node:fs/promises';
import type { OpenApiDocument } from '../openapi/openApi.ts';
import { type Stage, stages, stagesForClients } from '../stages/stages.ts';

/** The interface's document, as it is published. */
export interface OpenApi {
  readonly bytes: Buffer;
  readonly document: OpenApiDocument;
}

const file = new URL('../../shared/contract/openapi.json', import.meta.url);

/** Reads the committed document, and puts the stages' addresses in the place of its examples. */
export async function readOpenApi(
  { documentationAddress } = stages.production.settings,
  deployments: readonly Stage[] = stagesForClients,
): Promise<OpenApi> {
  const committed: OpenApiDocument = JSON.parse(await readFile(file, 'utf8'));
  const document = {
    ...committed,
    externalDocs: { ...committed.externalDocs, url: documentationAddress },
    servers: deployments.map(({ name, settings: { baseAddress } }) => ({
      url: baseAddress,
      description: `${name[0]?.toUpperCase()}${name.slice(1)}`,
    })),
  };
  return { bytes: Buffer.from(`${JSON.stringify(document, null, 2)}\n`), document };
}
