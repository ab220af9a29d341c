import { beforeEach, describe, expect, test } from 'vitest'
import type { AuditEntry } from '../../../src/domain/access/audit-record.ts'
import { AUDIT_ENTRY_BYTES_MAX } from '../../../src/domain/limits.ts'
import { createAuditLines, LINES_PER_TEAM_MAX } from '../../../src/telemetry/audit-lines.ts'
import { createLogger } from '../../../src/telemetry/logger.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'

type Line = Record<string, unknown>

let clock: FakeClock
let lines: Line[] = []
let sizes: number[] = []
let audit = createAuditLines({
  clock: createFakeClock(),
  logger: createLogger({ level: 'silent', format: 'json' }),
})

beforeEach(() => {
  clock = createFakeClock()
  lines = []
  sizes = []
  const write = (line: string): void => {
    sizes.push(line.length)
    lines.push(JSON.parse(line) as Line)
  }
  audit = createAuditLines({ clock, logger: createLogger({ level: 'info', format: 'json', write }) })
})

function aDeletion(id: number, { queue = 'orders', actor = 'bot' } = {}): AuditEntry {
  return {
    actor: { kind: 'token', name: actor, via: 'api', address: '10.0.0.7' },
    action: 'delete',
    resource: { kind: 'job', id, name: queue },
    before: null,
    after: null,
  }
}

const DONE = { outcome: 'done' } as const
const bare = () => lines.map(({ time: _time, level: _level, ...line }) => line)

test('a change is a line at once, with actor, way, act, resource and address', () => {
  const entry = { ...aDeletion(7), before: { is_active: true }, after: { is_active: false } }
  audit.note('shop', entry, { outcome: 'refused' })
  expect(bare()).toEqual([
    {
      msg: 'audit',
      team: 'shop',
      actor: { kind: 'token', name: 'bot' },
      via: 'api',
      address: '10.0.0.7',
      action: 'delete',
      resource: { kind: 'job', id: 7, name: 'orders' },
      outcome: 'refused',
      before: { is_active: true },
      after: { is_active: false },
    },
  ])
  expect(lines[0]?.['level']).toBe('info')
})

describe('like changes', () => {
  test('within a minute are two lines, the second with the count of the rest', async () => {
    for (let id = 1; id <= 3_000; id += 1) {
      audit.note('shop', aDeletion(id), DONE)
      if (id % 250 === 0) await clock.advance(1_000)
    }
    expect(lines).toHaveLength(1)
    await clock.advance(48_000)
    const [first, rest, ...others] = bare()
    expect(others).toEqual([])
    expect(rest).toEqual({
      ...first,
      count: 2_999,
      ids: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
      first_at: '2027-01-15T08:00:00.000Z',
      last_at: '2027-01-15T08:00:11.000Z',
    })
    audit.note('shop', aDeletion(1), DONE)
    expect(lines).toHaveLength(3)
    await clock.advance(60_000)
    expect(lines).toHaveLength(3)
    expect(clock.timers).toBe(0)
  })

  test('are those of one actor in one queue of one team, with one outcome', () => {
    audit.note('shop', aDeletion(1), DONE)
    audit.note('shop', aDeletion(2, { actor: 'ann' }), DONE)
    audit.note('shop', aDeletion(3, { queue: 'mails' }), DONE)
    audit.note('other', aDeletion(4), DONE)
    audit.note('shop', aDeletion(5), { outcome: 'refused' })
    expect(lines).toHaveLength(5)
  })

  test('that were counted are written when the process stops', () => {
    audit.note('shop', aDeletion(1), DONE)
    audit.note('shop', aDeletion(2), DONE)
    audit.stop()
    audit.stop()
    expect(bare().map(({ count }) => count)).toEqual([undefined, 1])
    expect(clock.timers).toBe(0)
  })
})

describe('a team that changes thousands of different things', () => {
  test('writes a bounded number of lines, counts them all, and takes none from others', async () => {
    for (let i = 0; i < 5_000; i += 1) audit.note('greedy', aDeletion(i, { queue: `q${i}` }), DONE)
    audit.note('shop', aDeletion(1), DONE)
    expect(lines.filter(({ team }) => team === 'greedy')).toHaveLength(LINES_PER_TEAM_MAX + 1)
    expect(lines.at(-1)?.['team']).toBe('shop')
    await clock.advance(60_000)
    const counted = lines.reduce((sum, line) => sum + Number(line['count'] ?? 1), 0)
    expect(counted).toBe(5_001)
    const coarse = bare().at(-1)
    expect(coarse).toMatchObject({
      team: 'greedy',
      action: 'delete',
      resource: { kind: 'job' },
      outcome: 'done',
    })
    expect(coarse?.['ids']).toHaveLength(10)
  })

  test('stays bounded with as many actors', async () => {
    for (let i = 0; i < 5_000; i += 1) audit.note('greedy', aDeletion(i, { actor: `a${i}` }), DONE)
    await clock.advance(60_000)
    expect(lines.length).toBeLessThan(LINES_PER_TEAM_MAX + 110)
    const counted = lines.reduce((sum, line) => sum + Number(line['count'] ?? 1), 0)
    expect(counted).toBe(5_000)
  })
})

test('a line is of bounded size and holds no credential', () => {
  const fields = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`f${i}`, 'é'.repeat(256)]))
  const after = { url: 'https://user:pass@a.test/x?key=abc', note: 'Bearer pk_secret', ...fields }
  audit.note('shop', { ...aDeletion(1), before: fields, after }, DONE)
  expect(sizes[0]).toBeLessThan(AUDIT_ENTRY_BYTES_MAX + 500)
  const text = JSON.stringify(lines)
  for (const secret of ['pass@', 'abc', 'pk_secret']) expect(text).not.toContain(secret)
})
