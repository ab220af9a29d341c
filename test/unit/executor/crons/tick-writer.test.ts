import { beforeEach, expect, test } from 'vitest'
import { StorageFullError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { TickWriter } from '../../../../src/executor/crons/tick-writer.ts'
import type { DecidedCron, PreparedTicks } from '../../../../src/ports/crons.ts'
import { createFakeCrons } from '../executor-fixture.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'

function decidedCron(cronId: number): DecidedCron {
  const due = { team: 'a', name: `c${cronId}`, version: 1, settings: cronSettings(), bytes: 100 }
  const cron = { ...due, cronId, expectedMs: 60_000, spreadMs: 0, running: null }
  return { cron, run: [60_000], missed: null, nextMs: 120_000 }
}

const ALL = Array.from({ length: 100 }, (_, cronId) => decidedCron(cronId))
/** What is thrown over crons, by id. */
let unpreparable: Map<number, Error>
let unsendable: Map<number, Error>
let sent: number[]
let sends: number
let quarantined: Array<[number, string]>
let writer: TickWriter

beforeEach(() => {
  ;[unpreparable, unsendable, sent, sends, quarantined] = [new Map(), new Map(), [], 0, []]
  const failAt = (faults: ReadonlyMap<number, Error>, decided: readonly DecidedCron[]) => {
    for (const { cron } of decided) {
      const fault = faults.get(cron.cronId)
      if (fault !== undefined) throw fault
    }
  }
  writer = new TickWriter({
    ...createFakeCrons(0),
    quarantine: ({ cronId }, reason) => {
      quarantined.push([cronId, reason])
      return true
    },
    prepare: async (decided): Promise<PreparedTicks[]> => {
      failAt(unpreparable, decided)
      const send = async () => {
        sends += 1
        failAt(unsendable, decided)
        sent.push(...decided.map(({ cron }) => cron.cronId))
        return { started: decided.length, outdated: 0 }
      }
      return [{ crons: decided.length, decided, send }]
    },
  })
})

async function tickAll(): Promise<number> {
  let started = 0
  for (const ticks of await writer.prepare(ALL)) started += (await writer.send(ticks)).started
  return started
}

test('a cron that cannot be prepared is quarantined alone, and all others tick once', async () => {
  unpreparable.set(41, new Error('CST is no time zone'))
  expect(await tickAll()).toBe(99)
  expect(quarantined).toEqual([[41, 'CST is no time zone']])
  expect(sent.toSorted((a, b) => a - b)).toEqual(ALL.map((_, i) => i).filter((i) => i !== 41))
})

test('crons whose step fails are quarantined alone, and all others tick once', async () => {
  unsendable.set(0, new Error('ERR odd')).set(99, new Error('WRONGTYPE'))
  expect(await tickAll()).toBe(98)
  expect(quarantined).toEqual([
    [0, 'ERR odd'],
    [99, 'WRONGTYPE'],
  ])
  expect(new Set(sent).size).toBe(98)
  expect(sent).toHaveLength(98)
  // A hundred is halved seven times for each.
  expect(sends).toBeLessThan(32)
})

test('a full Redis and one that is away quarantine nobody', async () => {
  unpreparable.set(3, new StoreUnavailableError('away'))
  await expect(tickAll()).rejects.toThrow('away')
  unpreparable.clear()
  unsendable.set(3, new StorageFullError())
  await expect(tickAll()).rejects.toThrow(StorageFullError)
  expect(quarantined).toEqual([])
})

test('judging quarantines what throws', () => {
  const { cron } = decidedCron(5)
  expect(writer.judge(cron, () => 7)).toBe(7)
  const odd = (): never => {
    throw new Error('odd')
  }
  expect(writer.judge(cron, odd)).toBeUndefined()
  expect(quarantined).toEqual([[5, 'odd']])
  expect(() =>
    writer.judge(cron, () => {
      throw new StoreUnavailableError('away')
    }),
  ).toThrow('away')
})
