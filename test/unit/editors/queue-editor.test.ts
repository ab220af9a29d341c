import { describe, expect, it } from 'vitest'
import { EditRefusedError, ResourceApiError } from '../../../src/domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { ResourceQueueEditor } from '../../../src/editors/queue-editor.ts'
import type { HttpQueue } from '../../../src/controller/kinds.ts'
import type { Queue } from '../../../src/ports/queues.ts'
import { QUEUE_FINALIZER } from '../../../src/resources/finalizers.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN, queueKeyOf } from '../../../src/resources/queue-owner.ts'
import { nameOfPushedQueue } from '../../../src/resources/manifests/queue-manifest.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createMemoryKind } from '../controller/memory-kind.ts'
import { QUEUE_DEFAULTS } from '../controller/queues/queue-world.ts'

const PUSHED_NAME = `shop/${nameOfPushedQueue('Emails')}`

function setUp(options: { isSynced?: boolean; isBehind?: boolean; watched?: readonly string[] } = {}) {
  const clock = createFakeClock()
  const kind = createMemoryKind<HttpQueue>({
    kind: 'HttpQueue',
    indexes: { queue: (queue) => queueKeyOf(queue) },
    defaults: QUEUE_DEFAULTS,
  })
  const inEngine: { queue: Queue | null } = {
    queue: {
      queueId: 7,
      team: 'shop',
      name: 'Emails',
      settings: DEFAULT_QUEUE_SETTINGS,
      counts: { pending: 0, delayed: 0, processing: 0, dead: 0 },
      throttle: null,
    },
  }
  const removed: string[] = []
  let meanwhile = (): void => undefined
  const faults: ResourceApiError[] = []
  const guarded =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      const [fault] = faults.splice(0, 1)
      return fault === undefined ? run(...args) : Promise.reject(fault)
    }
  const { writer } = kind
  const editor = new ResourceQueueEditor({
    queues: {
      get: async (team, queueId) => {
        const { queue } = inEngine
        return queue !== null && queue.team === team && queue.queueId === queueId ? queue : null
      },
      getByName: async (team, name) => {
        const { queue } = inEngine
        return queue !== null && queue.team === team && queue.name === name ? queue : null
      },
      remove: async (_team, name) => {
        removed.push(name)
        meanwhile()
        return 'removed'
      },
    },
    resourcesOf: (team, name) => {
      if (options.isSynced === false) return null
      return options.isBehind === true ? [] : kind.informer.byIndex('queue', `${team}/${name}`)
    },
    store: {
      ...writer,
      create: guarded(writer.create),
      patchSpec: guarded(writer.patchSpec),
      remove: guarded(writer.remove),
    },
    isWatched: (namespace) => (options.watched ?? ['shop']).includes(namespace),
    isReadOnly: () => true,
    clock,
  })
  /** What the controller does behind it. */
  const putInForce = (change: Partial<Queue['settings']>): void => {
    const { queue } = inEngine
    if (queue !== null) inEngine.queue = { ...queue, settings: { ...queue.settings, ...change } }
  }
  const onRemoval = (run: () => void): void => void (meanwhile = run)
  return { clock, kind, editor, inEngine, removed, faults, putInForce, onRemoval }
}

describe('a new queue', () => {
  const fast = { rateLimit: { limit: 10, periodSeconds: 1 } }
  const appliedBy = ({ inEngine }: ReturnType<typeof setUp>) => {
    const settings = { ...DEFAULT_QUEUE_SETTINGS, ...fast }
    const counts = { pending: 0, delayed: 0, processing: 0, dead: 0 }
    inEngine.queue = { queueId: 9, team: 'shop', name: 'Partner', settings, counts, throttle: null }
  }

  it('is a resource of its own, with the defaults but for what was given, and answered once it is applied', async () => {
    const world = setUp()
    const { editor, kind, clock } = world
    const created = editor.create('shop', 'Partner', fast)
    await clock.advance(100)
    appliedBy(world)
    await clock.advance(100)
    expect(await created).toMatchObject({ queueId: 9, settings: fast })
    expect(kind.get(`shop/${nameOfPushedQueue('Partner')}`)).toMatchObject({
      metadata: { labels: { [ORIGIN_LABEL]: PUSH_ORIGIN } },
      spec: { queueName: 'Partner', rateLimit: { limit: 10, periodSeconds: 1 } },
    })
  })

  it('is refused where there is one, or a resource of one, or somebody makes it at the same moment', async () => {
    const { editor, kind, faults, inEngine } = setUp()
    expect(await editor.create('shop', 'Emails', fast)).toBe('exists')
    inEngine.queue = null
    kind.put('shop/partner', { queueName: 'Partner' })
    expect(await editor.create('shop', 'Partner', fast)).toBe('exists')
    faults.push(new ResourceApiError('conflict', 'it exists'))
    expect(await editor.create('shop', 'Other', fast)).toBe('exists')
    expect(kind.writes).toEqual([])
  })

  it('leaves nothing when nobody applies it, or when nobody watches its namespace', async () => {
    const { editor, kind, clock } = setUp()
    const failed = editor.create('shop', 'Partner', fast).catch((error: unknown) => String(error))
    await clock.advance(8_200)
    expect(await failed).toContain('no controller has applied the queue')
    expect(kind.informer.all()).toEqual([])
    await expect(editor.create('elsewhere', 'Partner', fast)).rejects.toThrow(EditRefusedError)
  })
})

describe('what somebody has applied', () => {
  it('is neither edited nor deleted where that is read-only; what was merely made is', async () => {
    const { kind, editor, clock } = setUp()
    const argo = { labels: { 'argocd.argoproj.io/instance': 'shop' } }
    kind.put('shop/emails', { queueName: 'Emails' }, argo)
    const refusal =
      'HttpQueue emails is managed by Argo CD (shop), and what was applied is read-only here: change its manifest.'
    await expect(editor.edit('shop', 7, { isActive: false })).rejects.toThrow(new EditRefusedError(refusal))
    await expect(editor.remove('shop', 7)).rejects.toThrow(new EditRefusedError(refusal))
    expect(kind.writes).toEqual([])
    kind.put('shop/emails', {}, { labels: {} })
    const edit = editor.edit('shop', 7, { isActive: false })
    await clock.advance(2_100)
    expect(await edit).toMatchObject({ settings: { isActive: false } })
  })
})

describe('what somebody has applied just now', () => {
  it('is not edited or deleted either, although the copy of all queues has not heard of it', async () => {
    const { kind, editor } = setUp({ isBehind: true })
    kind.put('shop/emails', { queueName: 'Emails' }, { specApplier: 'terraform' })
    await expect(editor.remove('shop', 7)).rejects.toThrow(/is read-only here/)
    expect(kind.writes).toEqual([])
  })

  it('is not edited while that copy is not there, rather than edited unseen', async () => {
    const { kind, editor } = setUp({ isSynced: false })
    kind.put('shop/emails', { queueName: 'Emails' }, { specApplier: 'terraform' })
    for (const change of [editor.edit('shop', 7, { isActive: false }), editor.remove('shop', 7)])
      await expect(change).rejects.toThrow(ResourceApiError)
    expect(kind.writes).toEqual([])
  })
})

describe('an edit', () => {
  it('of a spec that was refused begins with what was applied earlier', async () => {
    const { clock, kind, editor } = setUp()
    const object = kind.put('shop/emails', { queueName: 'Emails', timeoutSeconds: 4 })
    const status = (observedGeneration: number) => ({
      observedGeneration,
      conditions: [{ type: 'Ready', status: 'False', reason: 'InvalidSpec' }],
    })
    const { generation = 0 } = object.metadata
    const seen: number[] = []
    for (const observed of [generation - 1, generation]) {
      await kind.writer.applyStatus({ ...object, ...object.metadata }, status(observed))
      const refuse = ({ timeoutSeconds }: { timeoutSeconds: number }) => {
        seen.push(timeoutSeconds)
        throw new EditRefusedError('enough')
      }
      await expect(editor.edit('shop', 7, {}, refuse)).rejects.toThrow('enough')
    }
    await clock.advance(1)
    expect(seen).toEqual([4, DEFAULT_QUEUE_SETTINGS.timeoutSeconds])
  })

  it('changes the given fields of the owner, and answers when they are applied', async () => {
    const { kind, editor, clock, putInForce } = setUp()
    kind.put('shop/emails', { queueName: 'Emails', timeoutSeconds: 5 })
    putInForce({ timeoutSeconds: 5 })
    const edit = editor.edit('shop', 7, { isActive: false })
    await clock.advance(200)
    putInForce({ isActive: false })
    await clock.advance(100)
    expect(await edit).toMatchObject({ queueId: 7, settings: { isActive: false, timeoutSeconds: 5 } })
    expect(kind.get('shop/emails')?.spec).toMatchObject({
      active: false,
      timeoutSeconds: 5,
      queueName: 'Emails',
    })
  })

  it('is answered with what was written when nobody applies it', async () => {
    const { kind, editor, clock } = setUp()
    kind.put('shop/emails', { queueName: 'Emails' })
    const edit = editor.edit('shop', 7, { timeoutSeconds: 9 })
    await clock.advance(2_100)
    expect(await edit).toMatchObject({ settings: { timeoutSeconds: 9 } })
  })

  it('makes the resource of a pushed queue that has none', async () => {
    const { kind, editor, clock } = setUp()
    void editor.edit('shop', 7, { timeoutSeconds: 9 })
    await clock.advance(2_100)
    expect(kind.get(PUSHED_NAME)).toMatchObject({
      metadata: { labels: { 'punctual.dev/origin': 'push' } },
      spec: { queueName: 'Emails', timeoutSeconds: 9 },
    })
  })

  it('goes to the resource that the controller made a moment ago', async () => {
    const { kind, editor, clock } = setUp({ isBehind: true })
    kind.put(PUSHED_NAME, { queueName: 'Emails' })
    const edit = editor.edit('shop', 7, { timeoutSeconds: 9 })
    await clock.advance(2_100)
    await edit
    expect(kind.get(PUSHED_NAME)?.spec.timeoutSeconds).toBe(9)
  })

  it('of a queue that is not there is none', async () => {
    const { editor } = setUp()
    expect(await editor.edit('shop', 8, {})).toBeNull()
    expect(await editor.edit('other', 7, {})).toBeNull()
  })

  it.each(['invalid', 'forbidden', 'conflict'] as const)(
    'that is %s is refused in the words of the API server',
    async (fault) => {
      const { kind, editor, faults } = setUp()
      kind.put('shop/emails', { queueName: 'Emails' })
      faults.push(new ResourceApiError(fault, 'spec.timeoutSeconds: too large'))
      const edit = editor.edit('shop', 7, { timeoutSeconds: 9 })
      await expect(edit).rejects.toBeInstanceOf(EditRefusedError)
      await expect(edit).rejects.toThrow('spec.timeoutSeconds: too large')
    },
  )

  it('while the API server is away is a fault to try again after', async () => {
    const { kind, editor, faults } = setUp()
    kind.put('shop/emails', { queueName: 'Emails' })
    faults.push(new ResourceApiError('unavailable', 'no answer'))
    await expect(editor.edit('shop', 7, {})).rejects.toMatchObject({ fault: 'unavailable' })
  })

  it('before the resources are known is such a fault too', async () => {
    const { editor } = setUp({ isSynced: false })
    await expect(editor.edit('shop', 7, {})).rejects.toMatchObject({ fault: 'unavailable' })
  })

  it('of a namespace that is not watched, or of a queue that goes, is refused', async () => {
    await expect(setUp({ watched: [] }).editor.edit('shop', 7, {})).rejects.toBeInstanceOf(EditRefusedError)
    const { kind, editor } = setUp()
    kind.put('shop/emails', { queueName: 'Emails' }, { finalizers: [QUEUE_FINALIZER] })
    kind.delete('shop/emails')
    await expect(editor.edit('shop', 7, {})).rejects.toThrow('being deleted')
  })
})

describe('a removal', () => {
  it('removes all resources of the name, the owner last, and waits for the engine', async () => {
    const { kind, editor, clock, inEngine, removed } = setUp()
    kind.put('shop/emails', { queueName: 'Emails' }, { finalizers: [QUEUE_FINALIZER] })
    kind.put('shop/late', { queueName: 'Emails' })
    const removal = editor.remove('shop', 7)
    await clock.advance(100)
    expect(kind.writes).toEqual(['remove shop/late', 'remove shop/emails'])
    inEngine.queue = null
    let end: unknown = null
    void removal.then((answer) => (end = answer))
    await clock.advance(100)
    // What the controller still has to let go would be found by who asks next.
    expect(end).toBeNull()
    kind.force('shop/emails')
    await clock.advance(100)
    expect(await removal).toBe('removed')
    expect(removed).toEqual([])
  })

  it('ends with the pushed resource while that one alone stands for the jobs', async () => {
    const { kind, editor, clock } = setUp()
    const labels = { [ORIGIN_LABEL]: PUSH_ORIGIN }
    kind.put(PUSHED_NAME, { queueName: 'Emails' }, { labels, finalizers: [QUEUE_FINALIZER] })
    kind.put('shop/refused', { queueName: 'Emails' })
    void editor.remove('shop', 7)
    await clock.advance(100)
    expect(kind.writes).toEqual(['remove shop/refused', `remove ${PUSHED_NAME}`])
    kind.put('shop/refused', { queueName: 'Emails' }, { finalizers: [QUEUE_FINALIZER] })
    void editor.remove('shop', 7)
    await clock.advance(100)
    expect(kind.writes.slice(2)).toEqual([`remove ${PUSHED_NAME}`, 'remove shop/refused'])
  })

  it('of a queue without a resource goes to the engine', async () => {
    const { editor, removed } = setUp()
    expect(await editor.remove('shop', 7)).toBe('removed')
    expect(removed).toEqual(['Emails'])
    expect(await editor.remove('shop', 8)).toBe('not_found')
  })

  it('asks the API server itself before it takes the word of a copy that is behind', async () => {
    const { kind, editor, inEngine, removed, clock } = setUp({ isBehind: true })
    kind.put('shop/emails', { queueName: 'Emails' })
    kind.put('shop/other', { queueName: 'Other' })
    const removal = editor.remove('shop', 7)
    await clock.advance(100)
    inEngine.queue = null
    await clock.advance(100)
    expect(await removal).toBe('removed')
    expect(kind.writes).toEqual(['remove shop/emails'])
    expect(removed).toEqual([])
  })

  it('takes the resource too that was made while the queue went', async () => {
    const { kind, editor, removed, onRemoval } = setUp()
    onRemoval(() => kind.put(PUSHED_NAME, { queueName: 'Emails' }))
    expect(await editor.remove('shop', 7)).toBe('removed')
    expect(removed).toEqual(['Emails'])
    expect(kind.get(PUSHED_NAME)).toBeUndefined()
  })

  it('in a namespace that is not watched asks nobody', async () => {
    const { kind, editor, removed } = setUp({ watched: [], isBehind: true })
    kind.put('shop/emails', { queueName: 'Emails' })
    expect(await editor.remove('shop', 7)).toBe('removed')
    expect(removed).toEqual(['Emails'])
    expect(kind.writes).toEqual([])
  })
})
