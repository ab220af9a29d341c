import { expect, test } from 'vitest'
import {
  keepSecretsSealed,
  RETRY_MS,
  SEAL_EVERY_MS,
} from '../../../../src/controller/secrets/sealed-secrets.ts'
import type { ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { until } from '../../../support/until.ts'
import { createMemoryEngine } from '../memory-engine.ts'

test('seals at once, again every five minutes, and says once what no key opens', async () => {
  const clock = createFakeClock()
  const memory = createMemoryEngine()
  const events: Array<Pick<ResourceEvent, 'reason' | 'note'>> = []
  let passes = 0
  const engine: Parameters<typeof keepSecretsSealed>[0]['engine'] = {
    write: (run) => {
      passes += 1
      return memory.write(run)
    },
    warn: (event) => void events.push(event),
  }
  const stop = new AbortController()
  const running = keepSecretsSealed({ engine, clock, logger: quietLogger }, stop.signal)
  const after = async (ms: number): Promise<void> => {
    await until('the next pass is planned', () => clock.timers > 0)
    await clock.advance(ms)
    await until('the pass has ended', () => clock.timers > 0)
  }
  await until('the first pass has ended', () => clock.timers > 0)
  expect({ passes, events }).toEqual({ passes: 1, events: [] })

  memory.unopened = ['team a', 'cron n of team a', 'team b', 'team c', 'team d', 'team e', 'team f']
  await after(SEAL_EVERY_MS)
  await after(SEAL_EVERY_MS)
  expect(passes).toBe(3)
  expect(events.map(({ reason }) => reason)).toEqual(['SecretsUnreadable'])
  expect(events[0]?.note).toContain(
    ': team a, cron n of team a, team b, team c, team d, 2 more. Put that key',
  )

  memory.isAway = true
  await after(SEAL_EVERY_MS)
  memory.isAway = false
  memory.unopened = ['team a']
  await after(RETRY_MS)
  expect(passes).toBe(5)
  expect(events).toHaveLength(2)
  stop.abort()
  await running
})
