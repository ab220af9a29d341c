import { afterEach, beforeEach, expect, test } from 'vitest'
import { newJob } from '../../support/engine/engine.ts'
import type { AnyObject } from '../../support/cluster/kubernetes-api.ts'
import { until } from '../../support/until.ts'
import { openControllerWorld, type ControllerWorld } from './controller-world.ts'

const NAME = 'punctual-executor'
const BUILTIN = { PUNCTUAL_SCALING_MODE: 'builtin', PUNCTUAL_SCALING_MAX: '3' }

let world: ControllerWorld

beforeEach(async () => {
  world = await openControllerWorld()
})

afterEach(() => world.close())

const deployments = () => `/apis/apps/v1/namespaces/${world.namespace}/deployments`

async function makeDeployment(): Promise<void> {
  const labels = { app: NAME }
  await world.api.send('POST', deployments(), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: NAME },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'executor', image: 'punctual' }] },
      },
    },
  })
}

async function replicas(): Promise<unknown> {
  const { spec } = await world.api.send('GET', `${deployments()}/${NAME}`)
  return spec?.['replicas']
}

async function series(opsUrl: string): Promise<string[]> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  return text.split('\n').filter((line) => /^punctual_(?:executor_replicas|scaling)_/.test(line))
}

async function eventNotes(): Promise<string[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${world.namespace}/events`
  const { items } = await world.api.send('GET', path)
  const ours = (items as AnyObject[]).filter(({ action }) => action === 'ScaleExecutors')
  return ours.map(({ reason, note }) => `${String(reason)}: ${String(note)}`)
}

test('the leader wakes the fleet on a push with an event, and its successor goes on', async () => {
  await makeDeployment()
  const leader = await world.start(BUILTIN)
  await until('the leader has series of the fleet', async () => (await series(leader.opsUrl)).length === 5)
  const standby = await world.start(BUILTIN)
  expect(await series(standby.opsUrl)).toEqual([])

  await world.engine.intake.push(newJob())
  await until('one is wanted', async () => (await replicas()) === 1)
  await until('the event is there', async () => (await eventNotes()).length === 1)
  expect(await eventNotes()).toEqual(['ScaledUp: From 0 to 1 executors: 1 call could run, 200 per executor.'])
  await until('the series follow', async () =>
    (await series(leader.opsUrl)).includes('punctual_executor_replicas_desired 1'),
  )

  leader.signal('SIGTERM')
  expect(await leader.exited).toMatchObject({ code: 0 })
  await until(
    'the successor has series of the fleet',
    async () => (await series(standby.opsUrl)).length === 5,
  )
  for (let i = 0; i < 300; i += 1) await world.engine.intake.push(newJob())
  await until('two are wanted', async () => (await replicas()) === 2)
})
