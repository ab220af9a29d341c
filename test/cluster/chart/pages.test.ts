/** The kubectl and helm commands of docs/install.md that need no running pod, as they are written there. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { helm, helmObstacle } from '../../support/cluster/chart.ts'
import { type ControlPlane, startControlPlane } from '../../support/cluster/control-plane.ts'
import {
  type AnyObject,
  applyDefinitions,
  type KubernetesApi,
  openKubernetesApi,
} from '../../support/cluster/kubernetes-api.ts'
import { until } from '../../support/until.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FIND = join(ROOT, 'scripts/control-plane.sh')
const PAGE = readFileSync(join(ROOT, 'docs/install.md'), 'utf8')
const COMMANDS_TIMEOUT_MS = 300_000
/** An API server may wait a minute for the objects of each definition that is deleted, and some tests delete twice. */
const TEST_TIMEOUT_MS = 2 * COMMANDS_TIMEOUT_MS
const QUEUE = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue' }

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS })

// Of its own: these commands remove definitions and namespaces.
let plane: ControlPlane
let api: KubernetesApi
let home: string

function kubectlObstacle(): string | null {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' })
    return null
  } catch {
    return 'kubectl is not on PATH'
  }
}

beforeAll(async () => {
  const binaries = execFileSync(FIND, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  plane = await startControlPlane({ binaries })
  api = openKubernetesApi(plane.access)
  home = mkdtempSync(join(tmpdir(), 'punctual-page-'))
})
beforeEach(({ skip }) => {
  const obstacle = helmObstacle() ?? kubectlObstacle()
  skip(obstacle !== null, obstacle ?? '')
})
afterAll(async () => {
  await api?.close()
  await plane?.stop()
  if (home !== undefined) rmSync(home, { recursive: true, force: true })
})

/** The blocks of a section, with the steps of its lists. */
function blocksOf(heading: string): string[] {
  const start = PAGE.indexOf(`\n${heading}\n`)
  expect(start).toBeGreaterThan(0)
  const section = PAGE.slice(start + heading.length + 1).split(/\n#{2,3} /, 1)[0] ?? ''
  return [...section.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, text = '']) => text)
}

async function shell(text: string): Promise<string> {
  const limits = { timeout: COMMANDS_TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 } as const
  const folder = (await promisify(execFile)(join(ROOT, 'scripts/helm.sh'))).stdout.trim()
  const env = {
    ...process.env,
    HOME: home,
    KUBECONFIG: plane.kubeconfig,
    PATH: `${folder}:${process.env['PATH'] ?? ''}`,
  }
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', text], { cwd: ROOT, env, ...limits }))
    .stdout
}

async function definitions(): Promise<string[]> {
  const list = await api.send('GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
  return (list['items'] as AnyObject[]).map(({ metadata }) => metadata.name)
}

/** There are no nodes: says of each pod what its kubelet would. */
async function readyPods(): Promise<void> {
  const list = await api.send('GET', '/api/v1/namespaces/punctual/pods')
  for (const { metadata } of list['items'] as AnyObject[]) {
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    const path = `/api/v1/namespaces/punctual/pods/${metadata.name}/status`
    await api.send('PATCH', path, { status }, 'application/strategic-merge-patch+json').catch(() => undefined)
  }
}

test('the list of images has all that the chart runs', async () => {
  const [, list = ''] = blocksOf('## The image')
  const rendered = await helm(['template', 'punctual', join(ROOT, 'charts/punctual')])
  const images = new Set([...rendered.matchAll(/image: "?([^"\n]+)"?/g)].map(([, name]) => name))
  expect(images.size).toBe(2)
  expect((await shell(list)).trim().split('\n')).toEqual(
    [...images].toSorted((a = '', b = '') => a.localeCompare(b)),
  )
})

test('plain YAML is applied, waited for, and removed without a rest', async () => {
  const [install = ''] = blocksOf('## With plain YAML')
  let isDone = false
  const installed = shell(install).finally(() => (isDone = true))
  await until(
    'it is rolled out',
    async () => {
      await readyPods().catch(() => undefined)
      return isDone
    },
    COMMANDS_TIMEOUT_MS,
  )
  expect(await installed).toMatch(
    /deployment "punctual-controller" successfully rolled out\n.*deployment "punctual-api" successfully rolled out\n$/s,
  )
  // What the page says of the token.
  const manifests = readFileSync(join(ROOT, 'config/install.yaml'), 'utf8')
  expect(manifests).toMatch(/name: PUNCTUAL_MAKE_TOKEN\n +value: punctual-token\/token\n/)

  const removal = blocksOf('### Removing everything').at(-1) ?? ''
  expect(removal).toContain('kubectl delete -f config/install.yaml --ignore-not-found')
  await shell(removal)
  expect((await definitions()).filter((name) => name.endsWith('.punctual.dev'))).toEqual([])
  await expect(api.get({ apiVersion: 'v1', kind: 'Namespace', name: 'punctual' })).rejects.toMatchObject({
    code: 404,
  })
})

test('a deletion that hangs is mended as the page says', async () => {
  await applyDefinitions(api, readFileSync(join(ROOT, 'config/crd/manifests.yaml'), 'utf8'))
  const metadata = { name: 'left', namespace: 'default', finalizers: ['punctual.dev/queue'] }
  await api.send('POST', '/apis/punctual.dev/v1alpha1/namespaces/default/httpqueues', {
    ...QUEUE,
    metadata,
    spec: {},
  })
  await shell('kubectl delete crd httpqueues.punctual.dev --wait=false')
  expect(await definitions()).toContain('httpqueues.punctual.dev')
  await shell(blocksOf('### When a deletion hangs')[0] ?? '')
  await until(
    'the definition is gone',
    async () => !(await definitions()).includes('httpqueues.punctual.dev'),
  )
})

test('what stays after an uninstall is removed as the page says', async () => {
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: 'punctual' } })
  await api.send('POST', '/api/v1/namespaces/punctual/configmaps', { metadata: { name: 'punctual-state' } })
  const [, secrets = '', rest = ''] = blocksOf('### Removing everything')
  await shell(secrets)
  await shell(rest)
  expect((await definitions()).filter((name) => name.endsWith('.punctual.dev'))).toEqual([])
  const record = { apiVersion: 'v1', kind: 'ConfigMap', name: 'punctual-state', namespace: 'punctual' }
  await expect(api.get(record)).rejects.toMatchObject({ code: 404 })
})
