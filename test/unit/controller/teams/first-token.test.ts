import { describe, expect, test } from 'vitest'
import {
  FIRST_TOKEN_NAME,
  firstTokenNamespace,
  keepFirstToken,
} from '../../../../src/controller/teams/first-token.ts'
import type { ApiToken } from '../../../../src/controller/kinds.ts'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryKind } from '../memory-kind.ts'

const KEY = `punctual/${FIRST_TOKEN_NAME}`
const OLD = 'a'.repeat(64)
const NEW = 'b'.repeat(64)

function world() {
  const faults: Error[] = []
  const clock = createFakeClock()
  const tokens = createMemoryKind<ApiToken>({
    kind: 'ApiToken',
    indexes: {},
    onEffect: (when) => {
      const fault = when === 'before' ? faults.shift() : undefined
      if (fault !== undefined) throw fault
    },
  })
  const stopping = new AbortController()
  const keep = (sha256: string) =>
    keepFirstToken(
      { sha256, namespace: 'punctual', writer: tokens.writer, clock, logger: quietLogger },
      stopping.signal,
    )
  return { clock, faults, tokens, keep, stop: () => stopping.abort() }
}

describe('the first token', () => {
  test('becomes an ApiToken, once', async () => {
    const { tokens, keep } = world()
    await keep(OLD)
    await keep(OLD)
    expect(tokens.writes).toEqual([`create ${KEY}`])
    expect(tokens.get(KEY)?.spec.sha256).toBe(OLD)
  })

  test('that was changed takes the place of the former', async () => {
    const { tokens, keep } = world()
    tokens.put(KEY, { sha256: OLD, description: 'Of the platform team.' })
    await keep(NEW)
    expect(tokens.writes).toEqual([`spec ${KEY}`])
    expect(tokens.get(KEY)?.spec).toEqual({ sha256: NEW, description: 'Of the platform team.' })
  })

  test('waits for a kind that is not served yet, with growing pauses', async () => {
    const { clock, faults, tokens, keep } = world()
    const unknown = () => new ResourceApiError('not_found', '404 page not found')
    faults.push(unknown(), unknown(), new ResourceApiError('too_many', 'busy', { retryAfterMs: 9_000 }))
    const kept = keep(OLD)
    await clock.advance(1_000 + 2_000 + 8_999)
    expect(tokens.writes).toEqual([])
    await clock.advance(1)
    await kept
    expect(tokens.writes).toEqual([`create ${KEY}`])
  })

  test('is given up when leading ends', async () => {
    const { clock, faults, tokens, keep, stop } = world()
    faults.push(new ResourceApiError('not_found', '404 page not found'))
    const kept = keep(OLD)
    await clock.advance(500)
    stop()
    await kept
    expect([tokens.writes, clock.timers]).toEqual([[], 0])
  })

  test.each([
    [null, 'punctual'],
    [['shop', 'punctual'], 'punctual'],
    [['shop', 'mail'], 'shop'],
  ])('of an installation that watches %j belongs to %s', (watched, namespace) => {
    expect(firstTokenNamespace('punctual', watched)).toBe(namespace)
  })
})
