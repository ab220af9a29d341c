import { loopsOf } from '../../../support/loops.ts'
import { describe, expect, test } from 'vitest'
import { LEASE_BEAT_MS, LEASE_MARGIN_MS, LEASE_MS } from '../../../../src/domain/limits.ts'
import { AnswerClock } from '../../../../src/executor/shard/answer-clock.ts'
import { LeaseKeeper } from '../../../../src/executor/shard/lease-keeper.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createFakeSource, REDIS_AWAY } from '../executor-fixture.ts'

const DEADLINE_MS = LEASE_MS - LEASE_MARGIN_MS

function setUp() {
  const clock = createFakeClock()
  const source = createFakeSource()
  const lost: string[] = []
  const listed: number[] = []
  const lease = new LeaseKeeper({
    source,
    clock,
    loops: loopsOf({ clock, logger: quietLogger }),
    answers: new AnswerClock(clock),
    onLost: (reason) => lost.push(`${reason} at ${clock.monotonicMs()}`),
    onListed: (count) => listed.push(count),
  })
  return { clock, source, lost, listed, lease }
}

describe('beats', () => {
  test('the first registers, the others renew, every 3 s', async () => {
    const { clock, source, listed, lost, lease } = setUp()
    source.beat.rule = () => ({ status: 'ok', listed: source.beat.calls.length, redisMs: 0 })
    await lease.register()
    await clock.advance(LEASE_BEAT_MS * 10)
    expect(source.beat.calls.map((call) => call.args[0])).toEqual([true, ...Array(10).fill(false)])
    expect(listed).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(lost).toEqual([])
  })

  test('a registration that fails throws and leaves nothing running', async () => {
    const { clock, source, lost, lease } = setUp()
    source.beat.rule = () => Promise.reject(REDIS_AWAY)
    await expect(lease.register()).rejects.toBe(REDIS_AWAY)
    expect(clock.timers).toBe(0)
    expect(lost).toEqual([])
  })

  test('one that failed is retried after half a second', async () => {
    const { clock, source, lost, lease } = setUp()
    await lease.register()
    source.beat.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_BEAT_MS)
    expect(source.beat.calls).toHaveLength(2)
    await clock.advance(499)
    expect(source.beat.calls).toHaveLength(2)
    await clock.advance(1)
    expect(source.beat.calls).toHaveLength(3)
    source.beat.rule = () => ({ status: 'ok', listed: 0, redisMs: 0 })
    await clock.advance(500)
    expect(source.beat.calls).toHaveLength(4)
    await clock.advance(DEADLINE_MS - 1)
    expect(lost).toEqual([])
  })

  test('the next goes out only after the answer of the last', async () => {
    const { clock, source, lease } = setUp()
    await lease.register()
    source.beat.rule = null
    await clock.advance(LEASE_BEAT_MS * 2)
    expect(source.beat.calls).toHaveLength(2)
  })
})

describe('the deadline', () => {
  test('is counted from before the beat was sent, not from its answer', async () => {
    const { clock, source, lost, lease } = setUp()
    source.beat.rule = null
    const registering = lease.register()
    await clock.advance(3_000)
    source.beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    await registering
    await clock.advance(DEADLINE_MS - 3_000 - 1)
    expect(lost).toEqual([])
    await clock.advance(1)
    expect(lost).toEqual([`the lease ran out at ${DEADLINE_MS}`])
  })

  test('is earlier than the end of the lease in Redis by the margin', async () => {
    const { clock, source, lost, lease } = setUp()
    await lease.register()
    source.beat.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_MS)
    expect(lost).toEqual([`the lease ran out at ${DEADLINE_MS}`])
  })

  test('passes at once when the answer took longer than the lease', async () => {
    const { clock, source, lost, lease } = setUp()
    source.beat.rule = null
    const registering = lease.register()
    await clock.advance(DEADLINE_MS + 1)
    source.beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    await registering
    await clock.advance(0)
    expect(lost).toEqual([`the lease ran out at ${DEADLINE_MS + 1}`])
  })

  test('moves on with every renewal', async () => {
    const { clock, source, lost, lease } = setUp()
    await lease.register()
    await clock.advance(LEASE_BEAT_MS)
    source.beat.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(DEADLINE_MS - 1)
    expect(lost).toEqual([])
    await clock.advance(1)
    expect(lost).toHaveLength(1)
  })
})

describe('a lost lease', () => {
  test('is reported when Redis refuses a beat, and no beat follows', async () => {
    const { clock, source, lost, lease } = setUp()
    await lease.register()
    source.beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_MS * 4)
    expect(lost).toEqual([`Redis had ended the lease at ${LEASE_BEAT_MS}`])
    expect(source.beat.calls).toHaveLength(2)
    expect(clock.timers).toBe(0)
  })

  test('is reported once, even if the beat in progress is refused after the deadline', async () => {
    const { clock, source, lost, lease } = setUp()
    await lease.register()
    source.beat.rule = null
    await clock.advance(DEADLINE_MS)
    expect(lost).toHaveLength(1)
    source.beat.next.answer({ status: 'lease_lost' })
    await clock.advance(LEASE_MS * 2)
    expect(lost).toHaveLength(1)
  })
})

describe('stop', () => {
  test('ends beats and deadline without a report', async () => {
    const { clock, source, lost, lease } = setUp()
    await lease.register()
    lease.stop()
    expect(clock.timers).toBe(0)
    await clock.advance(LEASE_MS * 4)
    expect(source.beat.calls).toHaveLength(1)
    expect(lost).toEqual([])
  })

  test('a beat answered afterwards starts nothing again', async () => {
    const { clock, source, lost, lease } = setUp()
    await lease.register()
    source.beat.rule = null
    await clock.advance(LEASE_BEAT_MS)
    lease.stop()
    source.beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    await quiescence()
    expect(clock.timers).toBe(0)
    expect(lost).toEqual([])
  })
})
