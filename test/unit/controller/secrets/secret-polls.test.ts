import { expect, it } from 'vitest'
import {
  SECRET_POLL_MS,
  SECRET_READS_MAX,
  SecretPolls,
} from '../../../../src/controller/secrets/secret-polls.ts'

const cron = (key: string) => ({ kind: 'HttpCron', key })

/** So many crons that name one Secret each. @returns when the last is polled again */
function noteMany(polls: SecretPolls, namespace: string, count: number): number | null {
  return Array.from({ length: count }, (_, i) => polls.note(cron(`${namespace}/c${i}`), 1)).at(-1) ?? null
}

it('reads all every 30 s as long as there are few, however they are spread', () => {
  const polls = new SecretPolls()
  expect(noteMany(polls, 'large', SECRET_READS_MAX - 10)).toBe(SECRET_POLL_MS)
  expect(noteMany(polls, 'small', 10)).toBe(SECRET_POLL_MS)
  expect(polls.note(cron('large/none'), 0)).toBeNull()
})

it('delays a namespace with many, and no other', () => {
  const polls = new SecretPolls()
  noteMany(polls, 'small', 10)
  const many = noteMany(polls, 'greedy', 32_000) ?? 0
  expect(many).toBe(Math.ceil((SECRET_POLL_MS * 32_000) / (SECRET_READS_MAX - 10)))
  expect(polls.note(cron('small/c0'), 1)).toBe(SECRET_POLL_MS)
  // Those two share what the small one leaves.
  const half = (SECRET_READS_MAX - 10) / 2
  expect(noteMany(polls, 'other', half)).toBe(SECRET_POLL_MS)
  expect(polls.note(cron('other/more'), 1)).toBeGreaterThan(SECRET_POLL_MS)
  expect(polls.note(cron('greedy/c0'), 1)).toBe(Math.ceil((SECRET_POLL_MS * 32_000) / half))
})

it('makes at most so many reads in all, also in very many namespaces', () => {
  const polls = new SecretPolls()
  const count = SECRET_READS_MAX * 4
  for (let i = 0; i < count; i += 1) polls.note(cron(`n${i}/c`), 1)
  expect(polls.note(cron('n0/c'), 1)).toBe(SECRET_POLL_MS * 4)
})

it('forgets resources that name none any more, and counts each once', () => {
  const polls = new SecretPolls()
  noteMany(polls, 'a', SECRET_READS_MAX)
  noteMany(polls, 'a', SECRET_READS_MAX)
  expect(polls.note({ kind: 'HttpQueue', key: 'a/c0' }, 1)).toBeGreaterThan(SECRET_POLL_MS)
  expect(polls.note({ kind: 'HttpQueue', key: 'a/c0' }, 0)).toBeNull()
  expect(polls.note(cron('a/c0'), 1)).toBe(SECRET_POLL_MS)
  expect(polls.note(cron('b/c0'), 1)).toBe(SECRET_POLL_MS)
  expect(polls.note(cron('a/c1'), 1)).toBeGreaterThan(SECRET_POLL_MS)
  expect(polls.note(cron('a/c2'), 0)).toBeNull()
  expect(polls.note(cron('a/c1'), 1)).toBe(SECRET_POLL_MS)
})
