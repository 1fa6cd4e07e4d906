import { type ResourceName, resourceNames, resources } from '../../../bulk/resources.ts';
import { UsageError } from '../../../cli/usage.ts';
import { type DataFormat, measureFile, parseFormat } from './dataFile.ts';

/** The files of a data command, as typed. */
export type FileOptions = { readonly [Name in ResourceName]?: string | undefined };

export interface DataSource {
  readonly name: ResourceName;
  readonly file: string;
  readonly format: DataFormat;
}

/** @throws {UsageError} when no file is named, one twice, or one in a format that cannot be */
export function parseFiles(options: FileOptions): DataSource[] {
  const sources = resourceNames.flatMap((name) => {
    const file = options[name];
    return file === undefined
      ? []
      : [{ name, file, format: parseFormat(`--${name}`, file, resources[name]) }];
  });
  if (sources.length === 0) {
    throw new UsageError('Name at least one file: --inventory, --pets or --orders.');
  }
  if (new Set(sources.map(({ file }) => file)).size < sources.length) {
    throw new UsageError('Name a file of its own for each of --inventory, --pets and --orders.');
  }
  return sources;
}

/** @throws {UsageError} when one of the files cannot be read */
export async function checkReadable(sources: readonly DataSource[]): Promise<void> {
  for (const { name, file } of sources) await measureFile(`--${name}`, file);
}
