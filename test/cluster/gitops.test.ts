/** What GitOps tools make of our statuses: kstatus by a real helm, and Argo CD's health check by a real Lua. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { helm, helmObstacle } from '../support/cluster/chart.ts'
import type { AnyObject } from '../support/cluster/kubernetes-api.ts'
import { API_VERSION, openControllerWorld, type ControllerWorld } from './controller/controller-world.ts'

const folder = mkdtempSync(join(tmpdir(), 'punctual-gitops-'))
let world: ControllerWorld

beforeAll(async () => {
  world = await openControllerWorld()
  await world.start()
})
beforeEach(({ skip }) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Installs a release of one resource and waits for it, as kstatus does. */
function install(release: string, kind: string, spec: object): Promise<string> {
  const chart = join(folder, release)
  mkdirSync(join(chart, 'templates'), { recursive: true })
  writeFileSync(join(chart, 'Chart.yaml'), `apiVersion: v2\nname: ${release}\nversion: 1.0.0\n`)
  const object = { apiVersion: API_VERSION, kind, metadata: { name: release }, spec }
  writeFileSync(join(chart, 'templates/resource.yaml'), stringify(object))
  const given = ['install', release, chart, '--namespace', world.namespace, '--wait', '--timeout', '40s']
  return helm(given, { home: folder, kubeconfig: inject('kubeconfig') })
}

const CRON = { cronExpression: '0 3 * * *', url: 'https://example.com/' }

test('helm --wait, as Flux, waits for the controller and then succeeds', async () => {
  expect(await install('fine', 'HttpCron', CRON)).toContain('STATUS: deployed')
  expect(await world.condition('HttpCron', 'fine', 'Ready')).toMatchObject({ status: 'True' })
})

test(
  'and fails at once where the resource has a mistake, with what is wrong',
  { timeout: 60_000 },
  async () => {
    const impossible = { ...CRON, cronExpression: '0 3 31 2 *' }
    await expect(install('wrong', 'HttpCron', impossible)).rejects.toThrow(/wrong.*(?:Failed|failed)/s)
    expect(await world.condition('HttpCron', 'wrong', 'Stalled')).toMatchObject({ status: 'True' })
  },
)

/** Runs the health check of the page on an object, as Argo CD does. */
async function healthOf(object: AnyObject): Promise<unknown> {
  const page = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8')
  const block = /```yaml\n(data:\n {2}resource\.customizations:[\s\S]+?)```/.exec(page)?.[1] ?? ''
  const { data } = parse(block) as { data: Record<string, string> }
  const checks = parse(data['resource.customizations'] ?? '') as Record<string, Record<string, string>>
  const check = checks['punctual.dev/*']?.['health.lua'] ?? ''
  const script = `local obj = cjson.decode(ARGV[1])\nlocal function health()\n${check}\nend\nreturn cjson.encode(health())`
  return JSON.parse(String(await world.redis.client.eval(script, 0, JSON.stringify(object))))
}

test('Argo CD sees resources that are applied, paused, wrong and not looked at yet', async () => {
  await world.apply('HttpQueue', 'mails', {})
  await world.reason('HttpQueue', 'mails', 'Reconciled')
  const healthy = await world.get('HttpQueue', 'mails')
  expect(await healthOf(healthy)).toMatchObject({ status: 'Healthy' })
  await world.apply('HttpCron', 'paused', { ...CRON, active: false })
  await world.reason('HttpCron', 'paused', 'Paused', 'Scheduled')
  expect(await healthOf(await world.get('HttpCron', 'paused'))).toMatchObject({ status: 'Suspended' })
  await world.apply('HttpQueue', 'rival', { queueName: 'mails' })
  await world.reason('HttpQueue', 'rival', 'NameTaken')
  expect(await healthOf(await world.get('HttpQueue', 'rival'))).toMatchObject({
    status: 'Degraded',
    message: expect.stringContaining('mails'),
  })
  const edited = { ...healthy, metadata: { ...healthy.metadata, generation: 99 } } as unknown as AnyObject
  expect(await healthOf(edited)).toMatchObject({ status: 'Progressing' })
  const { status: _none, ...untouched } = healthy
  expect(await healthOf(untouched)).toMatchObject({ status: 'Progressing' })
})
