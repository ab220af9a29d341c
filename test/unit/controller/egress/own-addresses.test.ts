import { expect, test } from 'vitest'
import { FIND_EVERY_MS, keepOwnAddresses } from '../../../../src/controller/egress/own-addresses.ts'
import { ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { OwnAddressesOf } from '../../../../src/ports/settings.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryEngine } from '../memory-engine.ts'

function world() {
  const answers = new Map<OwnAddressesOf, readonly string[] | Error>([
    ['apiServer', ['192.0.2.1']],
    ['pods', ['10.0.0.7']],
  ])
  const clock = createFakeClock()
  const engine = createMemoryEngine()
  const warnings: unknown[] = []
  const stopping = new AbortController()
  const kept = keepOwnAddresses(
    {
      ownAddresses: {
        read: async (of) => {
          const answer = answers.get(of)
          if (answer instanceof Error) throw answer
          return answer ?? []
        },
      },
      engine: {
        write: async (run) => {
          const end = await run(engine.compiler)
          if ('status' in end && end.status === 'superseded') throw new StoreUnavailableError('superseded')
          return end as never
        },
      },
      clock,
      logger: { ...quietLogger, warn: (_message, fields) => void warnings.push(fields) },
    },
    stopping.signal,
  )
  const stored = () => Object.fromEntries(engine.ownAddresses)
  return { answers, clock, engine, warnings, stored, stop: () => (stopping.abort(), kept) }
}

test('pods and API server are told as they change', async () => {
  const { answers, clock, stored, stop } = world()
  await clock.advance(0)
  expect(stored()).toEqual({ apiServer: ['192.0.2.1'], pods: ['10.0.0.7'] })
  answers.set('pods', ['10.0.0.8', 'fd00::8'])
  await clock.advance(FIND_EVERY_MS)
  expect(stored()).toEqual({ apiServer: ['192.0.2.1'], pods: ['10.0.0.8', 'fd00::8'] })
  await stop()
  expect(clock.timers).toBe(0)
})

test('what cannot be read stays as it was, does not hold up the rest, and is logged once', async () => {
  const { answers, clock, warnings, stored, stop } = world()
  await clock.advance(0)
  answers.set('apiServer', new ResourceApiError('forbidden', 'no right'))
  answers.set('pods', ['10.0.0.9'])
  await clock.advance(3 * FIND_EVERY_MS)
  expect(stored()).toEqual({ apiServer: ['192.0.2.1'], pods: ['10.0.0.9'] })
  expect(warnings).toEqual([{ of: 'apiServer', reason: 'Kubernetes API: no right' }])
  answers.set('apiServer', ['192.0.2.2'])
  await clock.advance(FIND_EVERY_MS)
  expect(stored()).toMatchObject({ apiServer: ['192.0.2.2'] })
  await stop()
})

test('a Redis that is away or new is told when it is there', async () => {
  const { clock, engine, stored, stop } = world()
  engine.isAway = true
  await clock.advance(FIND_EVERY_MS)
  expect(stored()).toEqual({})
  engine.isAway = false
  await clock.advance(FIND_EVERY_MS)
  engine.ownAddresses.clear()
  await clock.advance(FIND_EVERY_MS)
  expect(stored()).toEqual({ apiServer: ['192.0.2.1'], pods: ['10.0.0.7'] })
  await stop()
})
