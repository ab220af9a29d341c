/** The kubectl and helm commands of every page, as they are written there, at an API server without nodes. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { helm, helmObstacle } from '../../support/cluster/chart.ts'
import { type ControlPlane, startControlPlane } from '../../support/cluster/control-plane.ts'
import {
  type AnyObject,
  applyDefinitions,
  type KubernetesApi,
  openKubernetesApi,
} from '../../support/cluster/kubernetes-api.ts'
import { type Block, BLOCKS, readPage, scriptOf, wayOf } from '../../support/pages/blocks.ts'
import { type ClusterShell, openClusterShell } from '../../support/pages/cluster-shell.ts'
import { startFakeKubelet } from '../../support/pages/fake-kubelet.ts'
import { isBuilt } from '../../support/pages/page-scene.ts'
import { followPage } from '../../support/pages/page-shell.ts'
import { isInstalled } from '../../support/tools.ts'
import { until } from '../../support/until.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FIND = join(ROOT, 'scripts/control-plane.sh')
const INSTALL = 'docs/install.md'
const PAGE = readPage(INSTALL)
/** An API server may wait a minute for the objects of each definition that is deleted, and some tests delete twice. */
const TEST_TIMEOUT_MS = 600_000
const QUEUE = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue' }
/** What pages take for granted in the namespace of a team. */
const TEAM = `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: reporter, namespace: shop }
---
apiVersion: v1
kind: Secret
metadata: { name: partner, namespace: shop }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: nightly, namespace: shop }
spec:
  schedule: 0 3 * * *
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - { name: call, image: curlimages/curl, command: [curl, -fsS, 'https://example.com/hooks/report'] }
`
/** What the controller makes before anything else runs. */
const MADE_SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'punctual-token' },
  stringData: { token: 'pk_example' },
}

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS, hookTimeout: TEST_TIMEOUT_MS })

// Of its own: these commands remove definitions and namespaces.
let plane: ControlPlane
let api: KubernetesApi
let shell: ClusterShell
let kubelet: ReturnType<typeof startFakeKubelet>
let folder = ''
const ran = new Set<Block>()

beforeAll(async () => {
  const binaries = execFileSync(FIND, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  plane = await startControlPlane({ binaries })
  api = openKubernetesApi(plane.access)
  if (obstacle() !== null) return
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'punctual-page-')))
  shell = await openClusterShell(folder, plane.kubeconfig)
  kubelet = startFakeKubelet(api, 'punctual', shell.attachedFile)
})
beforeEach(({ skip }) => {
  const why = obstacle()
  skip(why !== null, why ?? '')
})
afterAll(async () => {
  await kubelet?.stop()
  await shell?.stop()
  await api?.close()
  await plane?.stop()
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
})

function obstacle(): string | null {
  const missing = ['kubectl', 'jq'].filter((program) => !isInstalled(program))
  if (missing.length > 0) return `${missing.join(' and ')} is not on PATH`
  return isBuilt() ? helmObstacle() : 'nothing is built: make build'
}

/** The blocks of a section of docs/install.md up to the next heading of its level or above, that run here. */
function blocksOf(heading: string): Block[] {
  const start = PAGE.indexOf(`\n${heading}\n`)
  expect(start).toBeGreaterThan(0)
  const level = heading.indexOf(' ')
  const [section = ''] = PAGE.slice(start + heading.length + 1).split(new RegExp(`\n#{2,${level}} `), 1)
  const first = PAGE.slice(0, start).split('\n').length
  const last = first + section.split('\n').length
  return BLOCKS.filter(
    (block) =>
      block.page === INSTALL && block.line > first && block.line <= last && wayOf(block) === 'cluster',
  )
}

/** Runs a block as a person would paste it. */
async function run(block: Block | undefined): Promise<string> {
  if (block === undefined) expect.fail('the page has no such block')
  const said = await followPage('\n'.repeat(block.line - 1) + shell.adapted(block.text), shell)
  ran.add(block)
  return said
}

async function runAll(blocks: readonly Block[]): Promise<void> {
  for (const block of blocks) await run(block)
}

function renderedBlock(): Block | undefined {
  return blocksOf('#### Rendered by other tools')[0]
}

async function definitions(): Promise<string[]> {
  const list = await api.send('GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
  return (list['items'] as AnyObject[]).map(({ metadata }) => metadata.name)
}

test('the list of images has all that the chart runs', async () => {
  const [list] = blocksOf('## The image')
  const rendered = await helm(['template', 'punctual', join(ROOT, 'charts/punctual')])
  const images = new Set([...rendered.matchAll(/image: "?([^"\n]+)"?/g)].map(([, name]) => name))
  expect(images.size).toBe(2)
  expect((await run(list)).trim().split('\n')).toEqual(
    [...images].toSorted((a = '', b = '') => a.localeCompare(b)),
  )
})

test('plain YAML is applied, waited for, and removed without a rest', async () => {
  expect(await run(blocksOf('## With plain YAML')[0])).toMatch(
    /deployment "punctual-controller" successfully rolled out\n.*deployment "punctual-api" successfully rolled out\n$/s,
  )
  // What the page says of the token.
  const manifests = readFileSync(join(ROOT, 'config/install.yaml'), 'utf8')
  expect(manifests).toMatch(/name: PUNCTUAL_MAKE_TOKEN\n +value: punctual-token\/token\n/)

  const removal = blocksOf('### Removing everything').at(-1)
  expect(removal?.text).toContain('kubectl delete -f config/install.yaml --ignore-not-found')
  await run(removal)
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
  execFileSync('kubectl', ['delete', 'crd', 'httpqueues.punctual.dev', '--wait=false'], {
    env: { ...process.env, KUBECONFIG: plane.kubeconfig },
  })
  expect(await definitions()).toContain('httpqueues.punctual.dev')
  await run(blocksOf('### When a deletion hangs')[0])
  await until(
    'the definition is gone',
    async () => !(await definitions()).includes('httpqueues.punctual.dev'),
  )
})

test('what stays after an uninstall is removed as the page says', async () => {
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: 'punctual' } })
  await api.send('POST', '/api/v1/namespaces/punctual/configmaps', { metadata: { name: 'punctual-state' } })
  const [, secrets, rest] = blocksOf('### Removing everything')
  await run(secrets)
  await run(rest)
  expect((await definitions()).filter((name) => name.endsWith('.punctual.dev'))).toEqual([])
  const record = { apiVersion: 'v1', kind: 'ConfigMap', name: 'punctual-state', namespace: 'punctual' }
  await expect(api.get(record)).rejects.toMatchObject({ code: 404 })
})

/** A release of the chart, from here on. */
test('Helm installs, and what the page looks at next is there', async () => {
  await api.send('POST', '/api/v1/namespaces/punctual/secrets', MADE_SECRET)
  await api.apply(TEAM)
  await runAll(blocksOf('## With Helm').filter((block) => block !== renderedBlock()))
  expect(await definitions()).toContain('httpqueues.punctual.dev')
})

const pages = [...new Set(BLOCKS.filter((block) => wayOf(block) === 'cluster').map(({ page }) => page))]

/** As a controller does that leads. */
async function holdLease(): Promise<void> {
  const { items } = (await api.send('GET', '/api/v1/namespaces/punctual/pods')) as unknown as {
    readonly items: readonly AnyObject[]
  }
  const pod = items.find(({ metadata }) => metadata.name.startsWith('punctual-controller-'))
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'punctual-controller', namespace: 'punctual' },
    spec: { holderIdentity: `${pod?.metadata.name}_example` },
  }
  await api.apply(JSON.stringify(lease))
}

test.for(pages.filter((page) => page !== INSTALL))('%s finds what it names', async (page) => {
  await holdLease()
  await expect(followPage(shell.adapted(scriptOf(page, 'cluster')), shell)).resolves.toBeTypeOf('string')
  for (const block of BLOCKS.filter((one) => one.page === page && wayOf(one) === 'cluster')) ran.add(block)
})

test('Helm upgrades and uninstalls, and everything goes', async () => {
  const [upgrade] = blocksOf('## Upgrade')
  const [uninstall] = blocksOf('## Uninstall')
  const [install] = blocksOf('## With Helm')
  const [removal] = blocksOf('### Removing everything')
  await run(upgrade)
  await run(uninstall)
  await run(install)
  await run(removal)
  expect((await definitions()).filter((name) => name.endsWith('.punctual.dev'))).toEqual([])

  // In place of a release, as two owners of the same fields would be in conflict.
  await run(renderedBlock())
  expect(await definitions()).toContain('httpqueues.punctual.dev')
})

test('no block was left out', () => {
  const left = BLOCKS.filter((block) => wayOf(block) === 'cluster' && !ran.has(block))
  expect(left.map(({ page, line }) => `${page}:${line}`)).toEqual([])
})
