import { describe, expect, it, vi } from 'vitest'
import {
  BY_HASH,
  BY_NAMESPACE,
  type ApiToken,
  type MaintenanceWindow,
  type TeamSettings,
} from '../../../../src/controller/kinds.ts'
import { SecretPolls } from '../../../../src/controller/secrets/secret-polls.ts'
import { createTeamReconciler } from '../../../../src/controller/teams/team-reconciler.ts'
import { createTokenReconciler } from '../../../../src/controller/teams/token-reconciler.ts'
import { createWindowCheck } from '../../../../src/controller/windows/window-check.ts'
import { createWindowReconciler } from '../../../../src/controller/windows/window-reconciler.ts'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import { NO_QUOTAS } from '../../../../src/domain/quotas.ts'
import type { QueueStatsEntry } from '../../../../src/ports/queues.ts'
import type { SettingsCompiler } from '../../../../src/ports/settings.ts'
import { createCronWorld } from '../crons/cron-world.ts'
import { createFakeSecrets } from '../fake-secrets.ts'
import { createQueueWorld } from '../queues/queue-world.ts'
import { createReconcileWorld } from './reconcile-world.ts'

const metrics = { statusWritten: () => undefined }
const nothing = { byIndex: () => [], get: () => undefined, whenSynced: () => Promise.resolve() }

const createTeamWorld = () =>
  createReconcileWorld<TeamSettings>({
    kind: 'TeamSettings',
    crash: null,
    defaults: {
      egress: { allow: [] },
      signing: { secretRefs: [] },
      headerSecrets: [],
      members: [],
      notifications: { channels: [] },
    },
    start: ({ resources: { informer, writer }, ...parts }) =>
      createTeamReconciler({
        ...parts,
        informer,
        writer,
        metrics,
        secrets: createFakeSecrets().reader,
        polls: new SecretPolls(),
        quotas: NO_QUOTAS,
        waitingOf: () => 0,
        usageOf: () => null,
        failingOf: () => null,
        egress: { refusalOf: () => null, ineffectiveEntries: () => [] },
      }),
  })

const createTokenWorld = () =>
  createReconcileWorld<ApiToken>({
    kind: 'ApiToken',
    defaults: {},
    crash: null,
    indexes: { [BY_HASH]: ({ spec }) => spec.sha256 },
    start: ({ resources: { informer, writer }, ...parts }) =>
      createTokenReconciler({ ...parts, informer, writer, metrics }),
  })

const createWindowWorld = () =>
  createReconcileWorld<MaintenanceWindow>({
    kind: 'MaintenanceWindow',
    crash: null,
    defaults: { action: 'Mute', recurring: [{ cronExpression: '0 3 * * *', durationSeconds: 60 }] },
    indexes: { [BY_NAMESPACE]: ({ metadata }) => metadata.namespace },
    start: ({ resources: { informer, writer }, ...parts }) =>
      createWindowReconciler({
        ...parts,
        informer,
        writer,
        metrics,
        check: createWindowCheck(),
        queues: nothing,
        crons: nothing,
        enqueue: () => undefined,
      }),
  })

const BAD = 'shop/team'
const GOOD = 'mill/team'

const KINDS = [
  { kind: 'HttpQueue', step: 'applyQueue', createWorld: () => createQueueWorld() },
  { kind: 'HttpCron', step: 'applyCron', createWorld: () => createCronWorld() },
  { kind: 'TeamSettings', step: 'putTeam', createWorld: createTeamWorld },
  { kind: 'ApiToken', step: 'putToken', createWorld: createTokenWorld },
  { kind: 'MaintenanceWindow', step: 'putWindow', createWorld: createWindowWorld },
] as const

type World = ReturnType<(typeof KINDS)[number]['createWorld']>

function putBoth({ resources }: World): void {
  resources.put(BAD, { sha256: 'a'.repeat(64) })
  resources.put(GOOD, { sha256: 'b'.repeat(64) })
}

/** As a defect in what compiles the settings of one team. @returns mends it */
function plantIn(world: World, step: keyof SettingsCompiler, thrown: unknown): () => void {
  const compiler = world.engine.compiler as Record<keyof SettingsCompiler, (...args: unknown[]) => unknown>
  const real = compiler[step].bind(compiler)
  const spy = vi.spyOn(compiler, step).mockImplementation(async (...args) => {
    if (JSON.stringify(args).includes('"shop"')) throw thrown
    return real(...args)
  })
  return () => spy.mockRestore()
}

describe.each(KINDS)('an $kind over which our own code throws', ({ step, createWorld }) => {
  it('alone says so, once, until it is applied', async () => {
    const world = createWorld()
    const { resources, condition, reconcile, settle, events } = world
    putBoth(world)
    const mend = plantIn(world, step, new TypeError('planted.'))
    await expect(reconcile(BAD)).rejects.toThrow('planted')
    await settle(GOOD)
    expect(condition(GOOD)).toMatchObject({ status: 'True', reason: 'Reconciled' })
    expect(condition(BAD)).toMatchObject({
      status: 'False',
      reason: 'ReconcileError',
      observedGeneration: 1,
      message: expect.stringContaining('this resource: TypeError: planted. Settings') as string,
    })
    expect(condition(BAD, 'Stalled')).toMatchObject({ status: 'True', reason: 'ReconcileError' })
    expect(condition(BAD, 'Reconciling')).toBeUndefined()
    expect(resources.get(BAD)?.status).toMatchObject({ observedGeneration: 1 })
    const { length } = resources.writes
    for (let tries = 0; tries < 3; tries += 1) await expect(reconcile(BAD)).rejects.toThrow('planted')
    expect(resources.writes).toHaveLength(length)
    mend()
    await settle(BAD)
    expect(condition(BAD)).toMatchObject({ status: 'True', reason: 'Reconciled' })
    expect(condition(BAD, 'Stalled')).toBeUndefined()
    const ofIt = events.filter(({ reason }) => reason.startsWith('Reconcile'))
    expect(ofIt.map(({ type, reason }) => [type, reason])).toEqual([
      ['Warning', 'ReconcileError'],
      ['Normal', 'Reconciled'],
    ])
  })

  it('keeps what its status tells of the settings applied earlier', async () => {
    const world = createWorld()
    putBoth(world)
    await world.settle(BAD)
    const { conditions: former = [], ...fields } = world.status(BAD) ?? {}
    plantIn(world, step, new Error('x'.repeat(9_000)))
    world.resources.put(BAD, {})
    await expect(world.reconcile(BAD)).rejects.toThrow('xxx')
    const now = world.status(BAD)
    expect(now).toMatchObject({ ...fields, observedGeneration: 2 })
    for (const condition of former)
      if (condition.type !== 'Ready') expect(now?.conditions).toContainEqual(condition)
    const types = now?.conditions?.map(({ type }) => type) ?? []
    expect(types).toEqual([...new Set([...former.map(({ type }) => type), 'Stalled'])].toSorted())
    const { message = '' } = world.condition(BAD) ?? {}
    expect(message.length).toBeLessThan(1_000)
    expect(message).toMatch(/xxx…\. Settings .* changes\.$/)
  })

  it('is reported by the next try if its status could not be written, with the back-off of the defect', async () => {
    const world = createWorld()
    putBoth(world)
    plantIn(world, step, new TypeError('planted'))
    const write = vi
      .spyOn(world.resources.writer, 'applyStatus')
      .mockRejectedValueOnce(new ResourceApiError('conflict', 'it has changed'))
    await expect(world.reconcile(BAD)).rejects.toThrow(TypeError)
    expect(write).toHaveBeenCalledOnce()
    expect(world.condition(BAD)).toBeUndefined()
    await expect(world.reconcile(BAD)).rejects.toThrow(TypeError)
    expect(world.condition(BAD)).toMatchObject({ reason: 'ReconcileError' })
  })

  it('does not count a refusal of the API server as one of its own', async () => {
    const world = createWorld()
    putBoth(world)
    plantIn(world, step, new ResourceApiError('forbidden', 'no'))
    expect(await world.reconcile(BAD)).toBe('failed')
    expect(world.condition(BAD)).toBeUndefined()
  })
})

describe.each([
  { kind: 'HttpQueue', createWorld: () => createQueueWorld() },
  { kind: 'HttpCron', createWorld: () => createCronWorld() },
])('an $kind whose plan throws', ({ createWorld }) => {
  it('alone says so, until it can be planned', async () => {
    const world = createWorld()
    const { resources, condition, reconcile, settle, planted } = world
    putBoth(world)
    planted.team = 'shop'
    await expect(reconcile(BAD)).rejects.toThrow('planted')
    await settle(GOOD)
    expect(condition(BAD)).toMatchObject({ status: 'False', reason: 'ReconcileError' })
    expect(condition(BAD)?.message).toContain('RangeError: planted.')
    expect(condition(GOOD)).toMatchObject({ status: 'True' })
    const { length } = resources.writes
    await expect(reconcile(BAD)).rejects.toThrow('planted')
    expect(resources.writes).toHaveLength(length)
    planted.team = ''
    await settle(BAD)
    expect(condition(BAD)).toMatchObject({ status: 'True' })
    expect(condition(BAD, 'Stalled')).toBeUndefined()
  })
})

it('is reported also where what makes the status is what throws', async () => {
  const world = createQueueWorld()
  putBoth(world)
  await world.settle(BAD)
  const queueId = world.status(BAD)?.queueId ?? 0
  const broken = Object.defineProperty({ queueId } as QueueStatsEntry, 'counts', {
    get: () => {
      throw new TypeError('planted')
    },
  })
  world.stats.set(BAD, broken)
  await expect(world.reconcile(BAD)).rejects.toThrow('planted')
  expect(world.condition(BAD)).toMatchObject({ reason: 'ReconcileError' })
  expect(world.status(BAD)).toMatchObject({ queueId })
  const { length } = world.resources.writes
  await expect(world.reconcile(BAD)).rejects.toThrow('planted')
  expect(world.resources.writes).toHaveLength(length)
})
