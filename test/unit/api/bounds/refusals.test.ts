import { expect, test } from 'vitest'
import { Refusals } from '../../../../src/api/bounds/refusals.ts'
import type { Logger } from '../../../../src/ports/runtime.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

function open() {
  const lines: unknown[] = []
  const logger: Logger = { ...quietLogger, info: (_message, fields) => void lines.push(fields) }
  const clock = createFakeClock()
  return { lines, clock, refusals: new Refusals({ clock, logger }) }
}

test('an address is told to wait after ten, another is not; the next line says how many were not said', async () => {
  const { lines, clock, refusals } = open()
  const waits = Array.from({ length: 12 }, () => refusals.charge('192.0.2.1', { status: 401 }))
  expect(waits).toEqual([...Array.from({ length: 10 }, () => 0), 6_000, 6_000])
  expect(refusals.charge('192.0.2.2', { reason: 'x' })).toBe(0)
  await clock.advance(6_000)
  expect(refusals.charge('192.0.2.1', { status: 401 })).toBe(0)
  expect(lines).toHaveLength(12)
  expect(lines.slice(-2)).toEqual([
    { address: '192.0.2.2', reason: 'x', unsaid: 2 },
    { address: '192.0.2.1', status: 401 },
  ])
})

test('a client with one IPv6 address has its whole /64', () => {
  const { refusals } = open()
  for (let i = 1; i <= 10; i += 1) expect(refusals.charge(`2001:db8::${i}`, {})).toBe(0)
  expect(refusals.charge('2001:db8::ffff', {})).toBe(6_000)
  expect(refusals.charge('2001:db8:0:1::1', {})).toBe(0)
})

test('many addresses fill no log', async () => {
  const { lines, clock, refusals } = open()
  for (let i = 0; i < 250; i += 1) refusals.charge(`192.0.2.${i}`, {})
  expect(lines).toHaveLength(60)
  await clock.advance(1_000)
  refusals.charge('198.51.100.1', {})
  expect(lines.slice(60)).toEqual([{ address: '198.51.100.1', unsaid: 190 }])
})
