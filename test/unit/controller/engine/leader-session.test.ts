import { describe, expect, it } from 'vitest'
import { CHECK_EVERY_MS, LeaderSession } from '../../../../src/controller/engine/leader-session.ts'
import { LOSS_SHOWN_MS } from '../../../../src/controller/engine/engine-loss.ts'
import { ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { RecordedEngine, ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import type { EngineFacts } from '../../../../src/ports/settings.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryEngine } from '../memory-engine.ts'

const FLOOR = { jobBlock: 10, queue: 10, token: 10 }
const FACTS: EngineFacts = { installation: 'one', epoch: 4, idFloor: FLOOR }

function setUp(recorded: RecordedEngine | null = null) {
  const clock = createFakeClock()
  const events: ResourceEvent[] = []
  const losses: string[] = []
  const warnings: string[] = []
  const state = { isHeld: false }
  const engine = { facts: FACTS, isAway: false, begun: [] as Array<EngineFacts | null>, diesAtBegin: '' }
  const record = { kept: recorded, writes: 0, answers: Promise.resolve(), fault: null as Error | null }
  const answers = (): void => {
    if (engine.isAway) throw new StoreUnavailableError('Redis is not available: the test took it away')
  }
  const session = new LeaderSession({
    epochs: {
      facts: async () => {
        answers()
        return engine.facts
      },
      begin: async (earlier = null) => {
        answers()
        if (engine.diesAtBegin === 'before') throw new Error('it died')
        engine.begun.push(earlier)
        engine.facts = { ...engine.facts, epoch: Math.max(engine.facts.epoch, earlier?.epoch ?? 0) + 1 }
        if (engine.diesAtBegin === 'after') throw new Error('it died')
        return { facts: engine.facts, compiler: createMemoryEngine().compiler }
      },
    },
    record: {
      read: async () => {
        await record.answers
        if (record.fault !== null) throw record.fault
        return record.kept
      },
      write: async (written) => {
        record.kept = written
        record.writes += 1
        return { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'punctual', name: 'state', uid: 'u' }
      },
    },
    events: { record: (event) => void events.push(event) },
    clock,
    logger: { ...quietLogger, warn: (_message, fields) => void warnings.push(String(fields?.['reason'])) },
    metrics: {
      engineLost: (reason) => void losses.push(reason),
      engineHeld: (isHeld) => void (state.isHeld = isHeld),
    },
  })
  let opened = 0
  const lead = () => {
    const leading = new AbortController()
    const over = session.run(leading.signal, () => void (opened += 1))
    return { end: () => leading.abort(), over }
  }
  return { clock, session, engine, record, events, losses, warnings, state, lead, opened: () => opened }
}

const known = (facts: EngineFacts): RecordedEngine => ({ ...facts, loss: null })
const write = (world: ReturnType<typeof setUp>) =>
  world.session.write((compiler) => compiler.removeTeam('shop'))

it('begins an epoch and records which engine it is', async () => {
  const world = setUp()
  world.lead()
  await quiescence()
  expect(world.record.kept).toEqual({ installation: 'one', epoch: 5, idFloor: FLOOR, loss: null })
  expect(world.opened()).toBe(1)
  await expect(write(world)).resolves.toEqual({ status: 'removed' })
})

it('writes nothing while nothing changes, and what changes once', async () => {
  const world = setUp()
  world.lead()
  await world.clock.advance(20 * CHECK_EVERY_MS)
  expect(world.record.writes).toBe(1)
  world.engine.facts = { ...world.engine.facts, idFloor: { ...FLOOR, queue: 20 } }
  await world.clock.advance(20 * CHECK_EVERY_MS)
  expect(world.record).toMatchObject({ writes: 2, kept: { idFloor: { queue: 20 } } })
  expect(world.opened()).toBe(1)
})

it('begins a new epoch every five minutes, so that a copy of today is known for an older one', async () => {
  const world = setUp()
  world.lead()
  await world.clock.advance(300_000 + CHECK_EVERY_MS)
  expect(world.engine.begun).toHaveLength(2)
  expect(world.opened()).toBe(1)
})

describe('an engine that is not the one known', () => {
  it.each([
    ['another installation', { ...FACTS, installation: 'zero' }, 'EngineLost'],
    ['a later epoch than it has', { ...FACTS, epoch: 9 }, 'EngineRestored'],
  ] as const)(
    'by %s is reported, and all settings are applied again above its numbers',
    async (_what, before, reason) => {
      const world = setUp(known(before))
      world.lead()
      await quiescence()
      expect(world.session.loss()).toMatchObject({ reason })
      expect(world.losses).toEqual([reason])
      expect(world.events).toMatchObject([{ type: 'Warning', reason, regarding: { kind: 'ConfigMap' } }])
      expect(world.engine.begun).toEqual([known(before)])
      expect(world.record.kept).toMatchObject({ installation: 'one', loss: { reason } })
      await world.clock.advance(LOSS_SHOWN_MS)
      expect(world.session.loss()).toBeNull()
    },
  )

  it('by a lower epoch is none: the leader before began one', async () => {
    const world = setUp(known({ ...FACTS, epoch: 3 }))
    world.lead()
    await quiescence()
    expect(world.session.loss()).toBeNull()
  })

  it('is detected while leading, and all settings are applied again', async () => {
    const world = setUp()
    world.lead()
    await quiescence()
    world.engine.facts = { ...FACTS, installation: 'two', epoch: 0 }
    await world.clock.advance(CHECK_EVERY_MS)
    expect(world.opened()).toBe(2)
    expect(world.session.loss()).toMatchObject({ reason: 'EngineLost' })
  })

  it.each([['before'], ['after']])(
    'is known to the next leader when this one dies %s its term',
    async (when) => {
      const world = setUp(known({ ...FACTS, epoch: 9 }))
      world.engine.diesAtBegin = when
      world.lead()
      await quiescence()
      const next = setUp(world.record.kept)
      next.engine.facts = world.engine.facts
      next.lead()
      await quiescence()
      expect(next.session.loss()).toMatchObject({ reason: 'EngineRestored' })
    },
  )

  it('is reported by the next leader too, for a while, without a second event', async () => {
    const at = new Date(1_800_000_000_000 - 60_000).toISOString()
    const world = setUp({ ...FACTS, loss: { reason: 'EngineRestored', at } })
    world.lead()
    await quiescence()
    expect(world.session.loss()).toMatchObject({ reason: 'EngineRestored' })
    expect(world.events).toEqual([])
  })
})

describe('while Redis is away', () => {
  it('writes wait for the first check and then fail; a later check opens', async () => {
    const world = setUp()
    world.engine.isAway = true
    world.lead()
    const early = write(world)
    await expect(early).rejects.toBeInstanceOf(StoreUnavailableError)
    world.engine.isAway = false
    await world.clock.advance(CHECK_EVERY_MS)
    await expect(write(world)).resolves.toEqual({ status: 'removed' })
    expect(world.opened()).toBe(1)
  })
})

describe('a record that cannot be read', () => {
  const REFUSED = new ResourceApiError('forbidden', 'configmaps "punctual-state" is forbidden')

  it('is the obstacle, logged once and shown by a metric until it is resolved', async () => {
    const world = setUp()
    world.record.fault = REFUSED
    const { end, over } = world.lead()
    await world.clock.advance(3 * CHECK_EVERY_MS)
    await expect(write(world)).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(world.session.obstacle()).toBe(REFUSED.message)
    expect(world.warnings).toEqual([REFUSED.message])
    expect(world.state.isHeld).toBe(false)
    world.record.fault = null
    await world.clock.advance(CHECK_EVERY_MS)
    expect(world.session.obstacle()).toBeNull()
    expect(world.state.isHeld).toBe(true)
    end()
    await over
    expect(world.state.isHeld).toBe(false)
  })

  it('is logged also if Redis was away before, which is no obstacle', async () => {
    const world = setUp()
    world.engine.isAway = true
    world.lead()
    await quiescence()
    expect(world.session.obstacle()).toBeNull()
    world.engine.isAway = false
    world.record.fault = REFUSED
    await world.clock.advance(CHECK_EVERY_MS)
    expect(world.warnings).toHaveLength(2)
    expect(world.warnings).toContain(REFUSED.message)
  })

  it('is none of a process that does not lead any more', async () => {
    const world = setUp()
    world.record.fault = REFUSED
    const { end, over } = world.lead()
    await quiescence()
    end()
    await over
    expect(world.session.obstacle()).toBeNull()
  })
})

it('a write superseded by another epoch fails, and a new epoch begins at the next check', async () => {
  const world = setUp()
  world.lead()
  await quiescence()
  const overtaken = world.session.write(async () => ({ status: 'superseded' as const }))
  await expect(overtaken).rejects.toBeInstanceOf(StoreUnavailableError)
  await world.clock.advance(CHECK_EVERY_MS)
  expect(world.engine.begun).toHaveLength(2)
})

it('a write superseded by the next epoch of the same leader begins no other one', async () => {
  const world = setUp()
  world.lead()
  await quiescence()
  const answer = Promise.withResolvers<{ status: 'superseded' }>()
  const overtaken = world.session.write(() => answer.promise)
  await world.clock.advance(300_000 + CHECK_EVERY_MS)
  answer.resolve({ status: 'superseded' })
  await expect(overtaken).rejects.toBeInstanceOf(StoreUnavailableError)
  await world.clock.advance(CHECK_EVERY_MS)
  expect(world.engine.begun).toHaveLength(2)
  expect(world.opened()).toBe(1)
})

it('begins no epoch once it leads no more', async () => {
  const world = setUp()
  const { end, over } = world.lead()
  end()
  await over
  expect(world.engine.begun).toEqual([])

  const answer = Promise.withResolvers<void>()
  world.record.answers = answer.promise
  const again = world.lead()
  await quiescence()
  again.end()
  answer.resolve()
  await again.over
  expect(world.engine.begun).toEqual([])
  expect(world.record.writes).toBe(0)
})

it('ends with the leadership, and has no epoch from then on', async () => {
  const world = setUp()
  const { end, over } = world.lead()
  await quiescence()
  end()
  await over
  // It does not wait for the next leadership, which begins only after it has ended.
  await expect(write(world)).rejects.toBeInstanceOf(StoreUnavailableError)
})
