import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../stages/projectRoot.ts';

/**
 * The types that the client exports, with those that they need, in one module without imports. Every compiler finds
 * them, with every `moduleResolution`, and readers see nothing internal.
 */
export function readClientTypes(): Promise<string> {
  types ??= buildTypes();
  return types;
}

/** Kept, since the documentation and the package both have them, and compiling takes a second. */
let types: Promise<string> | undefined;

async function buildTypes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-client-types-'));
  try {
    const project = join(projectRoot, 'shared/client/tsconfig.json');
    const tsc = join(projectRoot, 'node_modules/.bin/tsc');
    // So small a project is not worth more threads.
    const options = ['--project', project, '--outDir', folder, '--singleThreaded'];
    await promisify(execFile)(tsc, options);
    const paths = globSync('**/*.d.ts', { cwd: folder }).map((path) => join(folder, path));
    const modules = new Map(paths.map((path) => [path, parseTypes(path)]));
    return joinTypes(modules, join(folder, 'client/index.d.ts'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A declaration begins at the start of a line, with its comment. */
const start =
  /^(?<!\*\/\n)(?=(?:\/\*\*(?:(?!\*\/).)*\*\/\n)?(?:export|declare|interface|type)\b)/ms;
const declaration = /^(?:export )?((?:declare )?(?:interface|type|class|function|const) (\w+))/m;

function parseTypes(path: string) {
  const content = readFileSync(path, 'utf8');
  const texts = content.split(start).filter((text) => declaration.test(text));
  const imports = content.matchAll(/^(?:import|export) (?:type )?\{(.*?)\} from '(.*?)\.ts'/gms);
  return {
    /** By name, with their comments. An overloaded function has several. */
    declarations: Map.groupBy(texts, (text) => declaration.exec(text)?.[2] ?? ''),
    /** The files of the names that it imports, or exports from there. */
    origins: new Map(
      [...imports].flatMap(([, names = '', from]) =>
        findWords(names).map((name) => [name, join(path, `../${from}.d.ts`)] as const),
      ),
    ),
  };
}

/** @throws {Error} if two files declare a name that the types need */
function joinTypes(
  modules: ReadonlyMap<string, ReturnType<typeof parseTypes>>,
  entryFile: string,
): string {
  const joined = new Map<string, readonly string[]>();

  function add(name: string, path: string): void {
    const { declarations, origins } = modules.get(path) ?? {};
    const origin = origins?.get(name);
    if (origin !== undefined) add(name, origin);
    const texts = declarations?.get(name);
    if (texts === undefined || joined.get(name) === texts) return;
    if (joined.has(name)) throw new Error(`Two files of the client declare the type ${name}.`);
    joined.set(name, texts);
    const code = texts.join('\n').replaceAll(/\/\*\*.*?\*\//gs, '');
    for (const word of findWords(code)) add(word, path);
  }

  const exported = new Set(modules.get(entryFile)?.origins.keys());
  for (const name of ['createPetstoreClient', ...exported]) add(name, entryFile);
  const texts = [...joined].flatMap(([name, all]) =>
    all.map((text) => text.trimEnd().replace(declaration, exported.has(name) ? 'export $1' : '$1')),
  );
  // Without this line, a compiler would take every declaration for an exported one.
  return `${[...texts, 'export {};'].join('\n\n')}\n`;
}

function findWords(code: string): string[] {
  return code.match(/[A-Za-z]\w*/g) ?? [];
}
