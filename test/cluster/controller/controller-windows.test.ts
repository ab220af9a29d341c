import { loopsOf } from '../../support/loops.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CompiledWindows } from '../../../src/redis/control/compiled/compiled-windows.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { quietLogger, quietMetrics } from '../../support/quiet.ts'
import { until } from '../../support/until.ts'
import { openControllerWorld, type ControllerWorld } from './controller-world.ts'

const HOUR_MS = 3_600_000

let world: ControllerWorld
let windows: CompiledWindows

beforeAll(async () => {
  world = await openControllerWorld()
  await world.start()
  windows = new CompiledWindows({
    runner: world.engine.engine.runner,
    clock: systemClock,
    logger: quietLogger,
    metrics: quietMetrics,
    loops: loopsOf({ clock: systemClock, logger: quietLogger }),
  })
})

afterAll(() => world.close())

const hours = (count: number) => new Date(Date.now() + count * HOUR_MS).toISOString()
const statusOf = async (name: string) => (await world.get('MaintenanceWindow', name)).status ?? {}
async function holds() {
  await windows.refresh()
  return windows.holds(Date.now()).map(({ resource }) => resource)
}
async function events(): Promise<string[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${world.namespace}/events`
  const { items } = (await world.api.send('GET', path)) as unknown as { items: { reason: string }[] }
  return items.map(({ reason }) => reason)
}

test('a window is in force as applied, follows an edit, and ends with its resource', async () => {
  const resource = { kind: 'HttpQueue', name: 'mails' }
  await world.apply('MaintenanceWindow', 'move', {
    action: 'Hold',
    resource,
    start: hours(-1),
    end: hours(1),
  })
  await world.reason('MaintenanceWindow', 'move', 'NotFound', 'ResourceFound')
  expect(await statusOf('move')).toMatchObject({ active: true, endTime: expect.any(String) as string })
  expect(await holds()).toEqual([{ kind: 'queue', name: 'mails' }])
  await until('its start is an event', async () => (await events()).includes('WindowStarted'))

  await world.apply('HttpQueue', 'mails', {})
  await world.reason('MaintenanceWindow', 'move', 'Found', 'ResourceFound')

  await world.apply('MaintenanceWindow', 'move', { action: 'Hold', resource, start: hours(1), end: hours(2) })
  await until('it is not active', async () => (await statusOf('move'))['active'] === false)
  expect(await statusOf('move')).toHaveProperty('nextStartTime')
  expect(await holds()).toEqual([])

  await world.apply('MaintenanceWindow', 'move', { action: 'Hold', start: hours(-1), end: hours(1) })
  await until('it is in force', async () => (await holds()).length === 1)
  await world.remove('MaintenanceWindow', 'move')
  await until('it is gone', async () => (await holds()).length === 0)
})

test('a schedule that never comes is refused with its field', async () => {
  const recurring = [{ cronExpression: '0 0 31 2 *', durationSeconds: 60 }]
  await world.apply('MaintenanceWindow', 'never', { recurring })
  expect(await world.reason('MaintenanceWindow', 'never', 'InvalidSpec')).toMatchObject({
    message: expect.stringContaining('spec.recurring[0].cronExpression: never comes') as string,
  })
})

test('a window of the API becomes a resource, follows its edits and goes with it', async () => {
  const { url, token } = await world.startApi()
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const answer = await fetch(`${url}/api/maintenance-windows${path}`, init)
    const text = await answer.text()
    return { status: answer.status, json: (text === '' ? null : JSON.parse(text)) as unknown }
  }
  const once = { start_at: hours(-1), end_at: hours(1) }
  expect(await send('POST', '', { name: 'night', action: 'hold', ...once })).toMatchObject({
    status: 201,
    json: { id: 'night', active: true, resource: null },
  })
  expect(await holds()).toEqual([null])
  expect((await world.get('MaintenanceWindow', 'night')).spec).toMatchObject({ action: 'Hold' })
  expect((await send('POST', '', { name: 'night', ...once })).status).toBe(409)

  const recurring = [{ cron_expression: '0 0 1 1 *', duration_seconds: 60 }]
  expect(await send('PATCH', '/night', { recurring })).toMatchObject({ status: 200, json: { active: false } })
  expect(await holds()).toEqual([])
  expect((await world.get('MaintenanceWindow', 'night')).spec).not.toHaveProperty('start')

  expect((await send('DELETE', '/night')).status).toBe(204)
  expect(await world.find('MaintenanceWindow', 'night')).toBeNull()
  expect((await send('GET', '/night')).status).toBe(404)
})
