import { expect, test } from 'vitest'
import { createProgress } from '../../../../src/roles/doctor/progress.ts'

function progressOn(isTTY: boolean) {
  const written: string[] = []
  let nowMs = 0
  const stream = { isTTY, write: (text: string) => written.push(text) }
  const progress = createProgress(stream, { shards: 4, clock: { monotonicMs: () => nowMs } })
  const at = (ms: number, queuesDone: number, pass = 1): void => {
    nowMs = ms
    progress.show({ pass, shard: 1, queuesDone, queues: 900 })
  }
  return { written, at, clear: progress.clear }
}

test('a terminal shows how far the inspection is, five times a second, and is cleared', () => {
  const { written, at, clear } = progressOn(true)
  at(0, 1)
  at(199, 2)
  at(200, 3, 2)
  clear()
  expect(written).toEqual([
    '\r\u001b[Kshard 2 of 4: queue 1 of 900',
    '\r\u001b[Kshard 2 of 4: queue 3 of 900, looking again at what was found',
    '\r\u001b[K',
  ])
})

test('anything else gets none', () => {
  const { written, at, clear } = progressOn(false)
  at(0, 1)
  clear()
  expect(written).toEqual([])
})
