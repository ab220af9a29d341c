import { describe, expect, it } from 'vitest'
import type { HttpCron } from '../../../src/controller/kinds.ts'
import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import {
  EditRefusedError,
  ResourceApiError,
  StorageFullError,
  StoreUnavailableError,
} from '../../../src/domain/errors.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import { ResourceCronEditor } from '../../../src/editors/cron-editor.ts'
import { createManagedResources } from '../../../src/editors/managed-resources.ts'
import type { Cron } from '../../../src/ports/crons.ts'
import { CRON_FINALIZER } from '../../../src/resources/finalizers.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { CRON_DEFAULTS } from '../controller/crons/cron-world.ts'
import { createMemoryKind } from '../controller/memory-kind.ts'

const NEW = cronSettings({ displayName: 'Daily mail', timeoutSeconds: 9 })

function aCron(name: string, settings: CronSettings): Cron {
  const state = { nextRunAtMs: 1, lastRun: null, lastSuccessAtMs: null, consecutiveFailures: 0 }
  return { cronId: 7, team: 'shop', name, settings, ...state }
}

function setUp(suffixes: readonly string[] = ['0a1b2c3d']) {
  const clock = createFakeClock()
  const kind = createMemoryKind<HttpCron>({ kind: 'HttpCron', indexes: {}, defaults: CRON_DEFAULTS })
  const inEngine = new Map<string, Cron>()
  const state = {
    isAway: false,
    isFull: false,
    isBroken: false,
    applied: [] as string[],
    /** What somebody else does just before the next patch. */
    beforePatch: () => {},
  }
  const faults: ResourceApiError[] = []
  const guarded =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      const [fault] = faults.splice(0, 1)
      return fault === undefined ? run(...args) : Promise.reject(fault)
    }
  const engine = async <T>(run: () => T): Promise<T> => {
    if (state.isAway) throw new StoreUnavailableError('away')
    return run()
  }
  const { writer } = kind
  const left = [...suffixes]
  const editor = new ResourceCronEditor({
    crons: {
      get: (team, cronId) =>
        engine(
          () => [...inEngine.values()].find((cron) => cron.team === team && cron.cronId === cronId) ?? null,
        ),
      getByName: (team, name) => engine(() => inEngine.get(`${team}/${name}`) ?? null),
      apply: (team, name, settings) =>
        engine(() => {
          if (state.isFull) throw new StorageFullError()
          if (state.isBroken) throw new RangeError('planted')
          state.applied.push(name)
          inEngine.set(`${team}/${name}`, aCron(name, settings))
          return { cronId: 7, nextRunAtMs: 1 }
        }),
      remove: (team, name) => engine(() => (inEngine.delete(`${team}/${name}`) ? 'removed' : 'not_found')),
    },
    teamSettings: { of: () => NO_TEAM_SETTINGS },
    cronSecrets: null,
    store: {
      read: writer.read,
      create: guarded(writer.create),
      patchSpec: (...given) => {
        state.beforePatch()
        return guarded(writer.patchSpec)(...given)
      },
      remove: guarded(writer.remove),
    },
    isWatched: (namespace) => namespace === 'shop',
    isReadOnly: () => true,
    newSuffix: () => left.shift() ?? 'ffffffff',
    clock,
  })
  /** What the controller does behind it. */
  const putInForce = (name: string, settings: CronSettings): void =>
    void inEngine.set(`shop/${name}`, aCron(name, settings))
  return { clock, kind, editor, inEngine, state, faults, putInForce }
}

it('a cron that somebody has applied is neither edited nor deleted where that is read-only', async () => {
  const { kind, editor, putInForce } = setUp()
  kind.put('shop/daily', { url: NEW.url, cronExpression: NEW.cronExpression }, { specApplier: 'terraform' })
  putInForce('daily', NEW)
  const refusal = /^HttpCron daily is managed by terraform, and what was applied is read-only here/
  await expect(editor.edit('shop', 7, { isActive: false })).rejects.toThrow(refusal)
  await expect(editor.remove('shop', 7)).rejects.toThrow(refusal)
  expect(kind.writes).toEqual([])
})

it('that edit is refused also while the badge that says so cannot be read', async () => {
  const { clock, kind, editor, putInForce } = setUp()
  const reads: string[] = []
  const managed = createManagedResources({
    resourcesOf: () => null,
    crons: {
      read: (_team, name) => {
        reads.push(name)
        return Promise.withResolvers<null>().promise
      },
    },
    isWatched: () => true,
    isReadOnly: () => true,
    clock,
  })
  const busy = Array.from({ length: 21 }, (_, i) => managed.ofCron('shop', `cron-${i}`))
  kind.put('shop/daily', { url: NEW.url, cronExpression: NEW.cronExpression }, { specApplier: 'terraform' })
  putInForce('daily', NEW)
  expect([await managed.ofCron('shop', 'daily'), reads.length]).toEqual([null, 20])
  await expect(editor.edit('shop', 7, { isActive: false })).rejects.toThrow(/is read-only here/)
  await expect(editor.remove('shop', 7)).rejects.toThrow(/is read-only here/)
  expect(kind.writes).toEqual([])
  await clock.advance(1_000)
  await Promise.all(busy)
})

describe('a new cron', () => {
  it('becomes a resource, and is answered when the engine has it', async () => {
    const { clock, kind, editor, state, putInForce } = setUp()
    const made = editor.create('shop', NEW, null)
    await clock.advance(200)
    expect(kind.get('shop/daily-mail-0a1b2c3d')).toMatchObject({
      metadata: { labels: { 'punctual.dev/origin': 'api' } },
      spec: { displayName: 'Daily mail', url: 'http://target.test/', timeoutSeconds: 9 },
    })
    putInForce('daily-mail-0a1b2c3d', NEW)
    await clock.advance(100)
    expect(await made).toMatchObject({ cronId: 7, settings: NEW })
    expect(state.applied).toEqual([])
  })

  it('is applied from here when no controller leads', async () => {
    const { clock, editor, state } = setUp()
    const made = editor.create('shop', NEW, null)
    await clock.advance(2_100)
    expect(await made).toMatchObject({ cronId: 7, settings: NEW })
    expect(state.applied).toEqual(['daily-mail-0a1b2c3d'])
  })

  it('takes another name where one is taken, in the engine or by a resource', async () => {
    const { clock, kind, editor, putInForce } = setUp(['00000001', '00000002', '00000003'])
    putInForce('daily-mail-00000001', NEW)
    kind.put('shop/daily-mail-00000002', {})
    const made = editor.create('shop', NEW, null)
    await clock.advance(2_100)
    expect(await made).toMatchObject({ name: 'daily-mail-00000003' })
    expect(kind.get('shop/daily-mail-00000001')).toBeUndefined()
  })

  it('is none while the API server is away', async () => {
    const { editor, faults, inEngine } = setUp()
    faults.push(new ResourceApiError('unavailable', 'away', { retryAfterMs: 3_000 }))
    await expect(editor.create('shop', NEW, null)).rejects.toMatchObject({
      fault: 'unavailable',
      retryAfterMs: 3_000,
    })
    expect(inEngine.size).toBe(0)
  })

  it('is none while Redis is away, before there is a resource and after', async () => {
    const { clock, kind, editor, state } = setUp()
    state.isAway = true
    await expect(editor.create('shop', NEW, null)).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(kind.writes).toEqual([])
    state.isAway = false
    const made = editor.create('shop', NEW, null)
    made.catch(() => undefined)
    await clock.advance(100)
    state.isAway = true
    await clock.advance(100)
    await expect(made).rejects.toBeInstanceOf(StoreUnavailableError)
    expect([...kind.informer.all()]).toEqual([])
  })

  it('is none when Redis has no room for it, and none later', async () => {
    const { clock, kind, editor, state } = setUp()
    state.isFull = true
    const made = editor.create('shop', NEW, null)
    made.catch(() => undefined)
    // Until it is tried from here.
    await clock.advance(2_000)
    await expect(made).rejects.toBeInstanceOf(StorageFullError)
    expect([...kind.informer.all()]).toEqual([])
  })

  it('is none when the engine cannot compute it, and none later', async () => {
    const { clock, kind, editor, state } = setUp()
    state.isBroken = true
    const made = editor.create('shop', NEW, null)
    made.catch(() => undefined)
    await clock.advance(2_000)
    await expect(made).rejects.toThrow('planted')
    expect([...kind.informer.all()]).toEqual([])
  })

  it.each(['invalid', 'forbidden'] as const)(
    'that is %s is refused in the API server’s words',
    async (fault) => {
      const { editor, faults } = setUp()
      faults.push(new ResourceApiError(fault, 'spec.url: too long'))
      await expect(editor.create('shop', NEW, null)).rejects.toThrow(EditRefusedError)
    },
  )

  it('in a namespace that is not ours is refused', async () => {
    const { editor } = setUp()
    await expect(editor.create('other', NEW, null)).rejects.toThrow('Crons of other have no resources here')
  })
})

describe('a new cron under a key', () => {
  const NAME = /^shop\/order-1-[0-9a-f]{16}$/

  it('is one, however often and at once it is asked for', async () => {
    const { clock, kind, editor } = setUp()
    const asked = [1, 2, 3].map(() => editor.create('shop', NEW, 'order-1'))
    await clock.advance(2_100)
    const again = editor.create('shop', NEW, 'order-1')
    await clock.advance(100)
    for (const made of [...asked, again]) expect(await made).toMatchObject({ cronId: 7, settings: NEW })
    expect(kind.writes).toEqual([expect.stringMatching(/^create shop\/order-1-[0-9a-f]{16}$/)])
  })

  it('is refused when the key has another one', async () => {
    const { clock, kind, editor } = setUp()
    const made = editor.create('shop', NEW, 'order-1')
    await clock.advance(2_100)
    await made
    expect(await editor.create('shop', { ...NEW, timeoutSeconds: 8 }, 'order-1')).toBe('key_used')
    expect([...kind.informer.all()].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      expect.stringMatching(NAME),
    ])
  })

  it('waits until the one before it is deleted', async () => {
    const { clock, kind, editor } = setUp()
    const made = editor.create('shop', NEW, 'order-1')
    await clock.advance(2_100)
    const { team, name } = (await made) as Cron
    kind.put(`${team}/${name}`, NEW, { finalizers: [CRON_FINALIZER] })
    kind.delete(`${team}/${name}`)
    await expect(editor.create('shop', NEW, 'order-1')).rejects.toThrow(EditRefusedError)
  })

  it('is none while Redis is away', async () => {
    const { kind, editor, state } = setUp()
    state.isAway = true
    await expect(editor.create('shop', NEW, 'order-1')).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(kind.writes).toEqual([])
  })
})

describe('an edit', () => {
  const NAME = 'daily-mail-0a1b2c3d'

  function withCron() {
    const world = setUp()
    world.kind.put(`shop/${NAME}`, { displayName: 'Daily mail', url: NEW.url, cronExpression: '* * * * *' })
    world.putInForce(NAME, NEW)
    return world
  }

  it('changes the given fields, and answers when they are applied', async () => {
    const { clock, kind, editor, putInForce } = withCron()
    const edit = editor.edit('shop', 7, { isActive: false, queue: 'mail' })
    await clock.advance(200)
    expect(kind.get(`shop/${NAME}`)?.spec).toMatchObject({ active: false, queue: 'mail' })
    putInForce(NAME, { ...NEW, timeoutSeconds: 30, isActive: false, queue: 'mail' })
    await clock.advance(100)
    expect(await edit).toMatchObject({ settings: { isActive: false, queue: 'mail' } })
  })

  it('that keeps a secret header gives it to no URL that another edit sets meanwhile', async () => {
    const { clock, kind, editor, state } = withCron()
    const stored = { displayName: 'Daily mail', cronExpression: '* * * * *' }
    const header = (value: string) => [{ name: 'Authorization', value }]
    kind.put(`shop/${NAME}`, { ...stored, url: NEW.url, headers: header('Bearer of-ours') })
    state.beforePatch = () => {
      state.beforePatch = () => {}
      kind.put(`shop/${NAME}`, { ...stored, url: 'https://other.test/', headers: header('Bearer of-theirs') })
    }
    const edit = editor.edit('shop', 7, { headers: { Authorization: '(hidden)', 'X-A': '1' } })
    await clock.advance(2_100)
    await edit
    expect(kind.get(`shop/${NAME}`)?.spec).toMatchObject({
      url: 'https://other.test/',
      headers: [...header('Bearer of-theirs'), { name: 'X-A', value: '1' }],
    })
  })

  it.each([
    ['refused', 'InvalidSpec', NEW],
    ['over quota', 'QuotaExceeded', { isActive: false, timeoutSeconds: 4 }],
  ])(
    'of a spec that is %s begins with what is in force, until it is another spec',
    async (_, reason, found) => {
      const { clock, kind, editor } = withCron()
      const object = kind.put(`shop/${NAME}`, { cronExpression: '0 0 30 2 *', timeoutSeconds: 4 })
      const { generation = 0 } = object.metadata
      await kind.writer.applyStatus(
        { ...object, ...object.metadata },
        {
          observedGeneration: generation,
          conditions: [{ type: 'Ready', status: 'False', reason, observedGeneration: generation }],
        },
      )
      const seen: CronSettings[] = []
      const edit = (change: Partial<CronSettings>) =>
        editor.edit('shop', 7, change, (current) => void seen.push(current))
      for (const change of [{ cronExpression: '0 0 1 2 *' }, { queue: 'mail' }]) {
        const edited = edit(change)
        await clock.advance(2_100)
        await edited
      }
      expect(seen[0]).toMatchObject(found)
      // The second one found the spec of the first, which nobody has refused.
      expect(seen.at(-1)).toMatchObject({
        cronExpression: '0 0 1 2 *',
        isActive: true,
        timeoutSeconds: 4,
      })
    },
  )

  it('to another URL is made under a lock, to what is there, and takes no secret header along', async () => {
    const { clock, kind, editor, faults } = withCron()
    const conflict = () => new ResourceApiError('conflict', 'it was changed')
    faults.push(conflict())
    const edit = editor.edit('shop', 7, { url: 'http://other.test/' })
    await clock.advance(2_100)
    expect(await edit).toMatchObject({ settings: { url: 'http://other.test/' } })
    faults.push(conflict())
    await expect(editor.edit('shop', 7, { timeoutSeconds: 5 })).rejects.toBeInstanceOf(EditRefusedError)
    const headers = [{ name: 'Authorization', value: 'Bearer canary' }]
    kind.put(`shop/${NAME}`, { ...kind.get(`shop/${NAME}`)?.spec, headers })
    await expect(editor.edit('shop', 7, { url: 'http://third.test/' })).rejects.toThrow(/Authorization/)
    expect(kind.get(`shop/${NAME}`)?.spec).toMatchObject({ url: 'http://other.test/' })
  })

  it('is answered with what was written when nobody applies it', async () => {
    const { clock, editor } = withCron()
    const edit = editor.edit('shop', 7, { timeoutSeconds: 11 })
    await clock.advance(2_100)
    expect(await edit).toMatchObject({ cronId: 7, settings: { timeoutSeconds: 11 } })
  })

  it('of a cron that is not there, or on its way out, is none', async () => {
    const { kind, editor } = withCron()
    expect(await editor.edit('shop', 8, {})).toBeNull()
    expect(await editor.edit('other', 7, {})).toBeNull()
    kind.put(`shop/${NAME}`, {}, { finalizers: [CRON_FINALIZER] })
    kind.delete(`shop/${NAME}`)
    expect(await editor.edit('shop', 7, { isActive: false })).toBeNull()
    expect(kind.writes).toEqual([])
  })

  it('to remove deletes the resource, and waits for the controller', async () => {
    const { clock, kind, editor, inEngine } = withCron()
    const removal = editor.remove('shop', 7)
    await clock.advance(100)
    expect(kind.get(`shop/${NAME}`)).toBeUndefined()
    inEngine.clear()
    await clock.advance(100)
    expect(await removal).toBe('removed')
    expect(await editor.remove('shop', 7)).toBe('not_found')
  })

  it('to remove is answered when the resource is deleted as well', async () => {
    const { clock, kind, editor, inEngine } = withCron()
    kind.put(`shop/${NAME}`, {}, { finalizers: [CRON_FINALIZER] })
    let end: unknown = null
    const removal = editor.remove('shop', 7).then((answer) => (end = answer))
    inEngine.clear()
    await clock.advance(200)
    expect(kind.get(`shop/${NAME}`)?.metadata.deletionTimestamp).toBeDefined()
    expect(end).toBeNull()
    kind.force(`shop/${NAME}`)
    await clock.advance(100)
    expect(await removal).toBe('removed')
  })

  it('to remove is answered after a while, though the resource stays', async () => {
    const { clock, kind, editor, inEngine } = withCron()
    kind.put(`shop/${NAME}`, {}, { finalizers: [CRON_FINALIZER, 'example.com/keep'] })
    const removal = editor.remove('shop', 7)
    inEngine.clear()
    await clock.advance(2_100)
    expect(await removal).toBe('removed')
  })

  it('to remove a cron without a resource removes it from the engine', async () => {
    const { kind, editor, inEngine } = withCron()
    kind.force(`shop/${NAME}`)
    expect(await editor.remove('shop', 7)).toBe('removed')
    expect(inEngine.size).toBe(0)
  })
})
