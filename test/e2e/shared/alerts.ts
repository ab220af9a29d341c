import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { Alert, AlertList } from '../../../clients/typescript/src/generated/wire.ts'
import { until } from '../../support/until.ts'
import { openSharedRelease } from '../support/open-release.ts'

/** An executor may have to start first. */
const ENDED_TIMEOUT_MS = 60_000
/** A first try that fails is repeated after 5 and 30 s. */
const TOLD_TIMEOUT_MS = 60_000
const WINDOW_MS = 3_600_000
/** Executors read changed windows and channels within 2 s; times in a window are whole seconds. */
const READ_MS = 4_000

const cluster = openSharedRelease()
const { inNamespace } = cluster
const folder = mkdtempSync(join(tmpdir(), 'punctual-alerts-'))

async function apply(kind: string, name: string, spec: object): Promise<void> {
  const file = join(folder, `${name}.json`)
  const manifest = { apiVersion: 'punctual.dev/v1alpha1', kind, metadata: { name }, spec }
  writeFileSync(file, JSON.stringify(manifest))
  await inNamespace('apply', '--filename', file)
}

/** Opens a little later, so that every executor has read the window before it is active. */
async function openWindow(name: string, spec: object): Promise<void> {
  const seconds = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
  const [start, end] = [seconds(Date.now() + READ_MS), seconds(Date.now() + WINDOW_MS)]
  await apply('MaintenanceWindow', name, { start, end, ...spec })
  await inNamespace('wait', `mw/${name}`, '--for=jsonpath={.status.active}=true', '--timeout=30s')
}

async function fail(queue: string): Promise<void> {
  const url = cluster.target.url(queue, { status: 500 })
  const { job_id: id } = await cluster.punctual.push({ queue, url })
  await cluster.punctual.ended(id, ENDED_TIMEOUT_MS)
}

/** The failure of a queue, once its channel has the given state. */
function failureOf(queue: string, state: string): Promise<Alert> {
  const delivered = async () => {
    const { body } = await cluster.punctual.send<AlertList>('GET', '/api/alerts?type=failure&limit=100')
    const alert = body.alerts.find(({ resource }) => resource.name === queue)
    return alert?.deliveries.some((one) => one.state === state) === true ? alert : null
  }
  return until(`the failure of ${queue} is ${state}`, delivered, TOLD_TIMEOUT_MS)
}

export function alerts(): void {
  afterAll(async () => {
    await inNamespace('delete', 'mw,teamsettings', '--all', '--timeout=30s')
    await inNamespace('delete', 'secret', 'alert-hook', '--ignore-not-found')
    await cluster.close()
    rmSync(folder, { recursive: true })
  })

  test('a queue that fails is told of at a webhook, and by kubectl', async () => {
    await inNamespace(
      'create',
      'secret',
      'generic',
      'alert-hook',
      `--from-literal=url=${cluster.target.url('alert-hook')}`,
    )
    const channel = { name: 'hook', type: 'Webhook', secretRef: { name: 'alert-hook', key: 'url' } }
    await apply('TeamSettings', 'team', { notifications: { channels: [channel] } })
    await inNamespace('wait', 'teamsettings/team', '--for=condition=NotificationsReady', '--timeout=30s')
    // An alert of before is told to no channel.
    await sleep(READ_MS)
    await cluster.applyQueue('alerting', { alertsEnabled: true, retriesEnabled: false })
    await fail('alerting')
    const alert = await failureOf('alerting', 'sent')

    expect(alert).toMatchObject({
      type: 'failure',
      reason: 'http_server_error',
      count: 1,
      read: false,
      suppressed_by: null,
      resource: { kind: 'queue', name: 'alerting' },
      deliveries: [{ channel: 'hook', state: 'sent', answer: expect.stringContaining('200') as string }],
    })
    expect((await cluster.target.report('alert-hook')).arrivals).toBe(1)

    await inNamespace('wait', 'hq/alerting', '--for=condition=Failing', '--timeout=30s')
  })

  test('alerts of a muted queue are stored and not sent', async () => {
    await cluster.applyQueue('muted', { alertsEnabled: true, retriesEnabled: false })
    await openWindow('deploy', { resource: { kind: 'HttpQueue', name: 'muted' }, reason: 'We deploy.' })
    await fail('muted')

    expect(await failureOf('muted', 'suppressed')).toMatchObject({ suppressed_by: 'deploy' })
    expect(await inNamespace('get', 'mw', 'deploy')).toMatch(/\bMute\b/)
  })

  test('jobs of a held queue wait until the window is deleted, others do not', async () => {
    await openWindow('stop', { resource: { kind: 'HttpQueue', name: 'waiting' }, action: 'Hold' })
    const push = (queue: string) => cluster.punctual.push({ queue, url: cluster.target.url(queue) })
    const { job_id: held } = await push('waiting')
    const { job_id: other } = await push('beside')
    await cluster.punctual.ended(other, ENDED_TIMEOUT_MS)

    expect((await cluster.punctual.job(held)).status).toBe('pending')

    await inNamespace('delete', 'mw', 'stop', '--timeout=30s')
    await cluster.punctual.ended(held, ENDED_TIMEOUT_MS)

    expect((await cluster.target.report('waiting')).arrivals).toBe(1)
  })
}
