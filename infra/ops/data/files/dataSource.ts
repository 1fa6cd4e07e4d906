import { type ResourceName, resourceNames, resources } from '../../../bulk/resources.ts';
import { UsageError } from '../../../cli/usage.ts';
import { type DataFile, measureFile, parseFormat, STANDARD_STREAM } from './dataFile.ts';

/** The files of a data command, as typed. */
export type FileOptions = { readonly [Name in ResourceName]?: string | undefined };

/** A data file, and the table whose entries it holds. */
export interface DataSource extends DataFile {
  readonly name: ResourceName;
}

/** Whether it is standard input, or standard output. */
export function isStandardStream({ file }: DataFile): boolean {
  return file === STANDARD_STREAM;
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
    throw new UsageError(
      'Name a file of its own for each of --inventory, --pets and --orders, and - but once.',
    );
  }
  return sources;
}

/** @throws {UsageError} when one of the files cannot be read */
export async function checkReadable(sources: readonly DataSource[]): Promise<void> {
  for (const source of sources) {
    if (!isStandardStream(source)) await measureFile(`--${source.name}`, source.file);
  }
}
