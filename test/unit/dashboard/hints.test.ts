import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createHints, isHinted } from '../../../dashboard/src/api/hints.ts'

const BETWEEN_MS = 3_000
const READS = ['listJobs', 'listQueues', 'countAlerts', 'listTokens', 'readMe', 'listBulks']

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** @returns what was read again, one list a time */
function follow(isPaused = () => false) {
  const read: string[][] = []
  const slow = new Set<string>()
  const stateOf = (name: string) => ({ fetchStatus: slow.has(name) ? 'fetching' : 'idle' })
  const invalidateQueries = ({ predicate }: { predicate: (query: object) => boolean }): Promise<void> => {
    read.push(
      READS.filter((name) =>
        predicate({ queryKey: [name, {}], meta: { isLive: true }, state: stateOf(name) }),
      ),
    )
    expect(READS.filter((name) => predicate({ queryKey: [name, {}], state: stateOf(name) }))).toEqual([])
    return Promise.resolve()
  }
  return { read, slow, hint: createHints({ invalidateQueries } as never, isPaused) }
}

test('what a hint is about is read again at once, and nothing else', () => {
  const { read, hint } = follow()
  hint(['alerts'])
  expect(read).toEqual([['countAlerts']])
})

test('while hints keep coming, they are gathered', () => {
  const { read, hint } = follow()
  hint(['jobs'])
  hint(['jobs'])
  hint(['settings'])
  expect(read).toEqual([['listJobs', 'listQueues']])
  vi.advanceTimersByTime(BETWEEN_MS)
  expect(read.at(-1)).toEqual(['listJobs', 'listQueues', 'listTokens'])
  vi.advanceTimersByTime(BETWEEN_MS * 2)
  expect(read).toHaveLength(2)
  hint(['jobs'])
  expect(read).toHaveLength(3)
})

test('what is being read when a hint comes is read once more when it is over', () => {
  const { read, slow, hint } = follow()
  slow.add('countAlerts')
  hint(['alerts'])
  slow.clear()
  vi.advanceTimersByTime(BETWEEN_MS * 3)
  expect(read).toEqual([['countAlerts'], ['countAlerts']])
})

test('nothing is read in a pause, and an unknown kind is passed over', () => {
  const { read, hint } = follow(() => true)
  hint(['jobs'])
  vi.advanceTimersByTime(BETWEEN_MS)
  expect(read).toEqual([])
  const other = follow()
  other.hint(['weather'])
  expect(other.read).toEqual([[]])
})

test('what no hint is about is read again by time', () => {
  expect(READS.filter(isHinted)).toEqual(['listJobs', 'listQueues', 'countAlerts', 'listTokens'])
  expect(isHinted('toString')).toBe(false)
})
