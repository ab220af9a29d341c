import { Ajv } from 'ajv'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { SETTINGS } from '../../src/settings/table.ts'
import { LABEL_SELECTOR } from '../../src/settings/tables/namespace-table.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')
const chart = parse(read('charts/punctual/Chart.yaml')) as {
  version: string
  appVersion: string
  kubeVersion: string
  annotations: Record<string, string>
}
const values = parse(read('charts/punctual/values.yaml')) as Record<string, unknown>
const schema = JSON.parse(read('charts/punctual/values.schema.json')) as Schema
const definitions = readdirSync(new URL('crds/', ROOT)).filter((name) => name.endsWith('.yaml'))

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
}

/** What every role may be given, Redis too where it has it: the page has it once. */
const OF_EVERY_POD =
  /^(?:controller|api|executor|redis\.bundled)\.(extra\w+|serviceAccount\.\w+|deploymentAnnotations|pod\w+|podDisruptionBudget\.\w+|containerSecurityContext|revisionHistoryLimit|strategy|\w+Probe|nodeSelector|tolerations|affinity|topologySpreadConstraints|\w+ClassName|dns\w+|hostAliases|resources)$/
/** Maps whose keys are those of Kubernetes: one value each. */
const WHOLE = /^(?:.+\.resources|podSecurityContext|containerSecurityContext)$/

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Values by their path; an empty object is one. */
function valuesIn(map: Record<string, unknown>, before = ''): [string, unknown][] {
  return Object.entries(map).flatMap(([key, value]) => {
    const path = `${before}${key}`
    const isValue = !isMap(value) || Object.keys(value).length === 0 || WHOLE.test(path)
    return isValue ? [[path, value] as [string, unknown]] : valuesIn(value, `${path}.`)
  })
}

describe('the values', () => {
  test('are all on the page, with their defaults, and no others', () => {
    const rows = [
      ...read('docs/install.md').matchAll(/^\| `([\w.*]+)` +\| (?:`(.+?)`|see `values.yaml`) +\|/gm),
    ]
    const written = rows.map(([, path, text]) => [path, text === undefined ? 'elsewhere' : JSON.parse(text)])
    const expected = new Map<string, unknown>()
    for (const [path, value] of valuesIn(values)) {
      const shown = WHOLE.test(path) || path === 'networkPolicy.dns' ? 'elsewhere' : value
      expected.set(path.replace(OF_EVERY_POD, '*.$1'), shown)
    }
    expect(expected.size).toBeGreaterThan(50)
    expect(written).toEqual([...expected])
  })

  test('fit their schema, which refuses any other name', () => {
    const validate = new Ajv({ strict: false }).compile(schema)
    expect([validate(values), validate.errors]).toEqual([true, null])
    for (const [path] of valuesIn(values)) {
      const misspelt = path
        .split('.')
        .toReversed()
        .reduce<unknown>((inner, key, index) => ({ [index === 0 ? `${key}x` : key]: inner }), 1)
      expect([path, validate(misspelt)]).toEqual([path, false])
    }
  })

  test('have the selector of namespaces that the program takes', () => {
    const { namespaceSelector } = (schema.properties ?? {}) as Record<string, { pattern?: string }>
    expect(namespaceSelector?.pattern).toBe(`^$|${LABEL_SELECTOR.source}`.replaceAll('\\/', '/'))
  })

  test('are each in the schema, so that one that was forgotten is not let through', () => {
    const known = (at: Schema, keys: readonly string[]): boolean => {
      const [key, ...rest] = keys
      if (key === undefined) return true
      const inline = at.$ref === undefined ? at : schema.$defs?.[at.$ref.replace('#/$defs/', '')]
      const next = inline?.properties?.[key]
      return next !== undefined && known(next, rest)
    }
    const unknown = valuesIn(values).filter(([path]) => !known(schema, path.split('.')))
    expect(unknown.map(([path]) => path)).toEqual([])
  })
})

test('the comparison names values that there are, and nothing that both others have is missing', () => {
  const [, page = ''] = read('docs/install.md').split('## Beside other charts')
  const rows = page
    .split('\n')
    .filter((line) => / (?:yes|no) +\| +(?:yes|no) +\|$/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  expect(rows.length).toBeGreaterThan(40)
  const known = (path: string) =>
    path.split('.').reduce<unknown>((at, key) => (isMap(at) ? at[key] : undefined), values) !== undefined
  const named = rows.flatMap(([, , ours = '']) =>
    [...ours.matchAll(/`([\w.]+)`/g)].map(([, path = '']) => path),
  )
  expect(named.filter((path) => !known(path))).toEqual([])
  expect(rows.filter(([, , ours = '']) => !/`|every value/.test(ours))).toEqual([])
})

test('the chart bounds pods as the program bounds itself', () => {
  expect(values).toMatchObject({
    api: {
      maxConnections: SETTINGS.maxConnections.initial,
      trustedProxies: SETTINGS.trustedProxies.initial,
      intakeBytes: SETTINGS.intakeBytes.initialText,
    },
    executor: {
      concurrencyReserve: SETTINGS.concurrencyReserve.initial,
      teamShare: SETTINGS.teamShare.initial,
      queueShare: SETTINGS.queueShare.initial,
      callBytes: '',
    },
  })
})

test('the chart lets teams open what the program does, as the egress page says', () => {
  expect(values).toHaveProperty('egress.allowable', SETTINGS.egressAllowable.initialText)
  expect(read('docs/reference/egress.md')).toContain('The default is `none`, in the chart too')
})

test('the install page names the oldest Kubernetes that the chart takes', () => {
  const [, oldest] = /^>=(\d+\.\d+)\.0-0$/.exec(chart.kubeVersion) ?? []
  expect(read('docs/install.md')).toContain(`Punctual needs Kubernetes ${oldest} or newer`)
})

test('the chart is of the version of the program', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  expect([chart.version, chart.appVersion]).toEqual([version, version])
  expect(read('config/default/kustomization.yaml')).toContain(`newTag: ${version}`)
})

test('kustomize leaves the Role about the API server where it is', () => {
  const { namespace } = parse(read('config/default/kustomization.yaml')) as { namespace?: string }
  expect(namespace).toBeUndefined()
  expect(read('config/rbac/manifests.yaml')).toMatch(
    /name: punctual-punctual-api-server\n {2}namespace: default\n/,
  )
})

test('the chart has the definitions of crds/, and says so to Artifact Hub', () => {
  const copies = readdirSync(new URL('charts/punctual/files/crds/', ROOT))
  expect(copies.toSorted()).toEqual(definitions.toSorted())
  const said = parse(chart.annotations['artifacthub.io/crds'] ?? '') as { name: string; kind: string }[]
  const kinds = definitions.map(
    (file) => (parse(read(`crds/${file}`)) as { spec: { names: { kind: string } } }).spec.names.kind,
  )
  expect(said.map(({ name }) => `${name}.yaml`).toSorted()).toEqual(definitions.toSorted())
  expect(said.map(({ kind }) => kind).toSorted()).toEqual(kinds.toSorted())
})

describe('the image', () => {
  const dockerfile = read('Dockerfile')

  test('hears signals from its first moment, in the pods of the chart too', () => {
    const init = '["/bin/sh", "/app/init.sh", "node", '
    expect(dockerfile).toContain(`ENTRYPOINT ${init}"--max-semi-space-size=16", "/app/dist/main.js"]`)
    expect(dockerfile).toContain(`RUN ${init}"/app/dist/main.js", "--version"]`)
    for (const role of ['controller', 'api', 'executor']) {
      const template = read(`charts/punctual/templates/${role}.yaml`)
      expect(template).toContain(`args: {{ prepend .Values.${role}.extraArgs "${role}" | toJson }}`)
      expect(template).not.toMatch(/^\s*command:/m)
    }
  })

  test('asks no registry but for its base, and runs as nobody', () => {
    expect(dockerfile).not.toMatch(/^#\s*syntax/im)
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    const stages = new Set([...dockerfile.matchAll(/^FROM .* AS (\S+)$/gm)].map(([, stage]) => stage))
    const own = bases.filter(
      (base) => !base?.startsWith('node:26-bookworm-slim@sha256:') && !stages.has(base),
    )
    expect(new Set(own)).toEqual(new Set(['${BASE_IMAGE}', 'scratch', '${PROGRAM}']))
    const users = dockerfile.split(/^FROM /m).map((stage) => stage.match(/^USER \S+$/gm)?.at(-1))
    expect(users.filter((user) => user !== undefined)).toEqual(['USER 65532:65532', 'USER 65532:65532'])
  })

  test('is built from files that are let into the build', () => {
    const allowed =
      read('.dockerignore')
        .match(/^!\S+/gm)
        ?.map((line) => line.slice(1)) ?? []
    const needed = [
      'package.json',
      'package-lock.json',
      '.npmrc',
      'src',
      'scripts',
      'crds',
      'config/samples',
      'openapi.yaml',
      'LICENSE',
    ]
    expect(allowed).toEqual(
      expect.arrayContaining([...needed, 'tsconfig.json', 'tsconfig.build.json', '.image']),
    )
  })
})
