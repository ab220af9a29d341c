/**
 * Writes what is generated from a source that stands in the repository; `--check` writes nothing and fails when
 * something is stale. The same sources give the same bytes on every machine.
 *
 * openapi.yaml → src/contract/generated/openapi-document.ts (the document); clients/typescript/src/generated/wire.ts
 *   (types of the bodies, also for the API, since the client is published without src/), operations.ts
 * definitions/ → crds/ (with the shared schemas in place), src/resources/generated/kinds.ts (types of spec and status),
 *   charts/punctual/files/crds/ (copies, with defaults and bounds in the descriptions: Helm reads nothing outside a chart)
 * test/faults/results.json and the tables beside it → docs/reliability.md
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { compile } from 'json-schema-to-typescript'
import { parse } from 'yaml'
import { explainedDefinition } from './explained-schema.ts'
import { operationsModule, type PathsDocument } from './client-operations.ts'
import { crdDefinitions } from './crd-definitions.ts'
import type { CrdDocument, JsonValue } from './crd-definitions.ts'
import { readSharedSchemas, withSharedSchemas } from './shared-schemas.ts'
import { reliabilityPage } from '../test/faults/page/reliability-page.ts'
import { readResults } from '../test/faults/results.ts'

const ROOT = join(import.meta.dirname, '..')
const CLIENT_FOLDER = 'clients/typescript/src/generated'
const BANNER = '// Generated from openapi.yaml by `npm run generate`: change that file, not this one.\n'
const KINDS_BANNER =
  '// Generated from definitions/ by `npm run generate`: change those files, not this one.\n'
const SHARED_FILE = 'shared.yaml'

interface OpenApiDocument extends PathsDocument {
  readonly components: { readonly schemas: Readonly<Record<string, JsonValue>> }
}

async function generateAll(): Promise<ReadonlyMap<string, string>> {
  const document = parse(await readFile(join(ROOT, 'openapi.yaml'), 'utf8')) as OpenApiDocument
  const definitions = await readDefinitions()
  return new Map([
    [`${CLIENT_FOLDER}/wire.ts`, await wireTypes(document)],
    [`${CLIENT_FOLDER}/operations.ts`, operationsModule(document, BANNER)],
    ['src/contract/generated/openapi-document.ts', documentText(document)],
    ['src/resources/generated/kinds.ts', await kindTypes([...definitions.values()])],
    ['docs/reliability.md', reliabilityPage(readResults())],
    ...[...definitions].flatMap(([name, text]) => [
      [`crds/${name}`, text] as const,
      [`charts/punctual/files/crds/${name}`, explainedDefinition(text)] as const,
    ]),
  ])
}

/** The definition of each kind as Kubernetes takes it, by the name of its file. */
async function readDefinitions(): Promise<ReadonlyMap<string, string>> {
  const folder = join(ROOT, 'definitions')
  const shared = readSharedSchemas(await readFile(join(folder, SHARED_FILE), 'utf8'))
  const names = (await readdir(folder)).filter((name) => name !== SHARED_FILE).sort()
  const texts = names.map(async (name) => {
    const text = withSharedSchemas(await readFile(join(folder, name), 'utf8'), shared)
    const banner = `# Generated from definitions/${name} by \`npm run generate\`: change that file, not this one.\n`
    return [name, `${banner}${text.replace(/^(?:#.*\n)+/, '')}`] as const
  })
  return new Map(await Promise.all(texts))
}

async function wireTypes(document: OpenApiDocument): Promise<string> {
  return `${BANNER}${await typesOf(toDefinitions(document.components.schemas))}`
}

async function kindTypes(texts: readonly string[]): Promise<string> {
  const types = await typesOf(crdDefinitions(texts.map((text) => parse(text) as CrdDocument)))
  // What is read of a resource is not to be changed in place.
  const readonly = types
    .replaceAll(/^( +)(\w+\??: )/gm, '$1readonly $2')
    .replaceAll(/(\w+)\[\]/g, 'readonly $1[]')
  return `${KINDS_BANNER}${readonly}`
}

async function typesOf(definitions: JsonValue): Promise<string> {
  const root = { title: 'Unused', type: 'object', additionalProperties: false, definitions } as const
  const source = await compile(root as unknown as Parameters<typeof compile>[0], 'Unused', {
    bannerComment: '',
    unreachableDefinitions: true,
    additionalProperties: true,
    // Tuple types for bounded arrays say less than the bounds in the document and are unhandy to build.
    ignoreMinAndMaxItems: true,
    style: { semi: false, singleQuote: true, printWidth: 110 },
  })
  return withoutRemarks(source)
}

/** Drops what the compiler says about its own input: where a type was found, and the root that has no use. */
function withoutRemarks(source: string): string {
  return source
    .replaceAll(/\n \*\n \* This interface was referenced by [^]*?(?=\n \*\/)/g, '')
    .replaceAll(/\/\*\*\n \* This interface was referenced by [^]*?\*\/\n/g, '')
    .replace(/export interface Unused \{\}\n/, '')
}

/** JSON Schema's own place for named schemas, which the compiler takes names from. */
function toDefinitions(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(toDefinitions)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/components/schemas/', '#/definitions/')
        : toDefinitions(inner),
    ]),
  )
}

function documentText(document: OpenApiDocument): string {
  const json = JSON.stringify(document).replaceAll('\\', '\\\\').replaceAll("'", "\\'")
  return `${BANNER}export const OPENAPI_DOCUMENT = '${json}'\n`
}

/** Files whose text on disk is not `text`. */
async function staleAmong(files: ReadonlyMap<string, string>): Promise<string[]> {
  const stale: string[] = []
  for (const [path, text] of files) {
    const current = await readFile(join(ROOT, path), 'utf8').catch(() => null)
    if (current !== text) stale.push(path)
  }
  return stale
}

async function main(): Promise<void> {
  const files = await generateAll()
  const stale = await staleAmong(files)
  if (process.argv.includes('--check')) {
    for (const path of stale)
      console.error(`${path} is stale: run \`npm run generate\` and commit the result.`)
    process.exitCode = stale.length === 0 ? 0 : 1
    return
  }
  for (const path of stale) {
    await mkdir(dirname(join(ROOT, path)), { recursive: true })
    await writeFile(join(ROOT, path), files.get(path) ?? '')
    console.log(`wrote ${path}`)
  }
}

await main()
