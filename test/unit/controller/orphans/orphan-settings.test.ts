import { expect, test } from 'vitest'
import type { KindAccess } from '../../../../src/controller/kinds.ts'
import { OrphanSettings } from '../../../../src/controller/orphans/orphan-settings.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { KubeObject } from '../../../../src/ports/resource-store.ts'
import { quietLogger } from '../../../support/quiet.ts'

/** @param keys of the resources that exist */
function setUp(...keys: readonly string[]) {
  const enqueued: string[] = []
  const warnings: string[] = []
  const state = { isAway: false, synced: Promise.resolve() }
  const kindOf = <T extends KubeObject>(): Pick<KindAccess<T>, 'informer'> => ({
    informer: {
      get: (key: string) => (keys.includes(key) ? ({} as T) : undefined),
      whenSynced: () => state.synced,
    } as unknown as KindAccess<T>['informer'],
  })
  let searches = 0
  const orphans = new OrphanSettings({
    engine: {
      applied: async () => {
        searches += 1
        if (state.isAway) throw new StoreUnavailableError('Redis is not available')
        const teams = ['shop', 'office', 'unwatched']
        return {
          teams,
          tokens: teams.map((team) => ({ team, name: 'ci' })),
          windows: teams.map((team) => ({ team, name: 'night' })),
        }
      },
    },
    isWatched: (namespace) => namespace !== 'unwatched',
    teams: kindOf(),
    tokens: kindOf(),
    windows: kindOf(),
    enqueue: {
      teams: (key) => void enqueued.push(`teams ${key}`),
      tokens: (key) => void enqueued.push(`tokens ${key}`),
      windows: (key) => void enqueued.push(`windows ${key}`),
    },
    logger: { ...quietLogger, warn: (message) => void warnings.push(message) },
  })
  const run = (signal = new AbortController().signal) => orphans.find(signal)
  return { run, enqueued, warnings, state, searches: () => searches }
}

test('enqueues the applied teams, tokens and windows of watched namespaces that have no resource', async () => {
  const { run, enqueued } = setUp('shop/team', 'office/ci', 'office/night')
  await run()
  expect(enqueued).toEqual(['teams office/team', 'tokens shop/ci', 'windows shop/night'])
})

test('waits for the informers, which have no resource before', async () => {
  const { run, enqueued, state } = setUp()
  const synced = Promise.withResolvers<void>()
  state.synced = synced.promise
  const running = run()
  await Promise.resolve()
  expect(enqueued).toEqual([])
  synced.resolve()
  await running
  expect(enqueued).toHaveLength(6)
})

test('logs that Redis is away, but not at the end of the leadership', async () => {
  const { run, warnings, state } = setUp()
  state.isAway = true
  await run()
  expect(warnings).toEqual(['Settings without a resource could not be searched for'])
  await run(AbortSignal.abort())
  expect(warnings).toHaveLength(1)
})

test('searches once more for whatever is asked for meanwhile, and again later', async () => {
  const { run, searches } = setUp()
  await Promise.all([run(), run(), run()])
  expect(searches()).toBe(2)
  await run()
  expect(searches()).toBe(3)
})
