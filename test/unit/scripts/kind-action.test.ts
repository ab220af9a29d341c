/** The action that brings Punctual up in kind: here its tools are stubs that note how they are called. */
import { spawn } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const action = parse(read('kind-action/action.yml')) as {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string }>>
  readonly runs: {
    readonly steps: ReadonlyArray<{ readonly run: string; readonly env: Record<string, string> }>
  }
}
const script = read('kind-action/up.sh')
const chart = parse(read('charts/punctual/Chart.yaml')) as { readonly appVersion: string }

/** Each notes its arguments, a line a call, and answers what a healthy cluster would. */
const STUBS: Readonly<Record<string, string>> = {
  docker: `case "$*" in
    info) ;;
    'image inspect'*) [[ "$IMAGES" == *" $3 "* ]] ;;
    'network inspect'*) printf 'fc00::1\\n172.18.0.1\\n' ;;
  esac`,
  kind: `[[ "$*" != 'get clusters' ]] || echo "$CLUSTERS"`,
  kubectl: `case "$*" in
    *'get secret'*) printf '%s' "$TOKEN" | base64 ;;
    *'get --raw'*) exit 1 ;;
  esac`,
  helm: `[[ -z "\${HELM_FAILS:-}" ]]`,
  // Before anything is there nothing listens.
  curl: `[[ "$*" == *--header* || -n "\${PORT_IS_TAKEN:-}" ]]`,
}

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-kind-'))
  for (const [name, body] of Object.entries(STUBS)) {
    writeFileSync(join(folder, name), `#!/bin/bash\necho "${name} $*" >>"${folder}/calls"\n${body}\n`)
    chmodSync(join(folder, name), 0o755)
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
  readonly calls: readonly string[]
}

async function up(env: Readonly<Record<string, string>>): Promise<Ran> {
  const given = {
    PATH: `${folder}:/usr/bin:/bin`,
    RUNNER_TEMP: folder,
    CLUSTERS: '',
    IMAGES: '',
    TOKEN: 'pun_1',
  }
  const child = spawn(join(ROOT, 'kind-action/up.sh'), { env: { ...given, ...env } })
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
  ])
  const calls = globSync(join(folder, 'calls')).flatMap((path) =>
    readFileSync(path, 'utf8').trim().split('\n'),
  )
  return { code, out, err, calls }
}

test('makes a cluster, loads the image and installs the chart with a test clock', async () => {
  const { code, out, err, calls } = await up({ IMAGE: 'punctual:test', IMAGES: ' punctual:test ' })
  expect([code, err]).toEqual([0, expect.stringContaining('Punctual answers at http://127.0.0.1:8080')])
  expect(out).toBe(
    'export PUNCTUAL_SERVER=http://127.0.0.1:8080\nexport PUNCTUAL_TOKEN=pun_1\nexport TARGET_HOST=172.18.0.1\n',
  )
  const [created, loaded, installed] = ['kind create cluster', 'kind load', 'helm'].map((begin) =>
    calls.findIndex((call) => call.startsWith(begin)),
  ) as [number, number, number]
  expect([created > 0, loaded > created, installed > loaded]).toEqual([true, true, true])
  expect(calls[created]).toMatch(/--name punctual .*--wait 180s/)
  expect(calls[loaded]).toBe('kind load docker-image punctual:test --name punctual')
  expect(calls[installed]).toContain('--set-string image.repository=punctual --set-string image.tag=test')
  expect(calls[installed]).toContain(`--values ${ROOT}/kind-action/values.yaml`)
  expect(calls.some((call) => call.startsWith('docker pull'))).toBe(false)
  expect(parse(read('kind-action/values.yaml'))).toMatchObject({ testClock: true })
})

test('uses a cluster that is there, and pulls the image of the release', async () => {
  const output = join(folder, 'output')
  const { code, out, calls } = await up({
    ACTION_REPOSITORY: 'Acme/punctual',
    CLUSTERS: 'another\nmine',
    CLUSTER: 'mine',
    GITHUB_OUTPUT: output,
  })
  expect(code).toBe(0)
  expect(calls.filter((call) => call.startsWith('kind create'))).toEqual([])
  expect(calls).toContain(`docker pull --quiet ghcr.io/acme/punctual:${chart.appVersion}`)
  // Before it is written anywhere else.
  expect(out).toBe('::add-mask::pun_1\n')
  expect(readFileSync(output, 'utf8')).toBe('url=http://127.0.0.1:8080\ntoken=pun_1\nhost=172.18.0.1\n')
})

test.each([
  ['no image', {}, 'no image is named (IMAGE)'],
  ['a digest', { IMAGE: `punctual@sha256:${'a'.repeat(64)}` }, 'needs a tag'],
  ['no tag', { IMAGE: 'localhost:5000/punctual' }, 'needs a tag'],
  ['a port that is taken', { PORT_IS_TAKEN: '1', PORT: '8099' }, 'something listens on port 8099 already'],
  ['a port that is none', { PORT: 'http' }, 'the port http is no number'],
  ['a file that is not there', { VALUES: '/nowhere.yaml' }, 'there is no file /nowhere.yaml'],
])('is refused before anything is made: %s', async (_what, env, message) => {
  const { code, err, calls } = await up(env)
  expect([code, err]).toEqual([1, expect.stringContaining(message)])
  expect(calls.filter((call) => /^(kind create|helm)/.test(call))).toEqual([])
})

test('shows the pods where the chart was not installed', async () => {
  const { code, err, calls } = await up({ IMAGE: 'punctual:test', HELM_FAILS: '1' })
  expect([code, err]).toEqual([1, expect.stringContaining('the chart was not installed')])
  expect(calls.some((call) => call.includes('get pods'))).toBe(true)
})

test('names a tool that is missing', async () => {
  rmSync(join(folder, 'kind'))
  const { err } = await up({ IMAGE: 'punctual:test' })
  expect(err).toBe('punctual: kind is not on PATH\n')
})

test('every input reaches the script, every output comes from it, and its page has them all', () => {
  const [step] = action.runs.steps
  const given = Object.values(step?.env ?? {}).join(' ')
  for (const name of Object.keys(action.inputs)) expect(given).toContain(`\${{ inputs.${name} }}`)
  for (const name of Object.keys(step?.env ?? {})) expect(script).toContain(`\${${name}:`)
  for (const { value } of Object.values(action.outputs)) {
    const [, name = ''] = /steps\.up\.outputs\.(\w+)/.exec(value) ?? []
    expect(script).toContain(`"${name}=`)
  }
  const page = read('docs/how-to/tests-with-the-clock.md')
  const rows = [...page.matchAll(/^\| `([\w-]+)` +\| .*$/gm)].map(([, name]) => name)
  expect(rows).toEqual(Object.keys(action.inputs))
})
