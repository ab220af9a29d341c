/**
 * Writes what is generated from a source that stands in the repository; `--check` writes nothing and fails when
 * something is stale. The same sources give the same bytes on every machine.
 *
 * openapi.yaml → src/contract/generated/wire.ts (types of the bodies), openapi-document.ts (the document)
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { compile } from 'json-schema-to-typescript'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '..')
const FOLDER = 'src/contract/generated'
const BANNER = '// Generated from openapi.yaml by `npm run generate`: change that file, not this one.\n'

type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }
interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, JsonValue>> }
}

async function generateAll(): Promise<ReadonlyMap<string, string>> {
  const document = parse(await readFile(join(ROOT, 'openapi.yaml'), 'utf8')) as OpenApiDocument
  return new Map([
    [`${FOLDER}/wire.ts`, await wireTypes(document)],
    [`${FOLDER}/openapi-document.ts`, documentText(document)],
  ])
}

async function wireTypes(document: OpenApiDocument): Promise<string> {
  const root = {
    title: 'Unused',
    type: 'object',
    additionalProperties: false,
    definitions: toDefinitions(document.components.schemas),
  } as const
  const source = await compile(root as unknown as Parameters<typeof compile>[0], 'Unused', {
    bannerComment: '',
    unreachableDefinitions: true,
    additionalProperties: true,
    // Tuple types for bounded arrays say less than the bounds in the document and are unhandy to build.
    ignoreMinAndMaxItems: true,
    style: { semi: false, singleQuote: true, printWidth: 110 },
  })
  return `${BANNER}${withoutRemarks(source)}`
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
