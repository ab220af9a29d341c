import { expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../../../src/domain/errors.ts'
import { Circuit, StoreAwayError } from '../../../../../src/redis/base/client/circuit.ts'
import { createFakeClock, quiescence } from '../../../../support/fake-clock.ts'

const DOWN = new Error("Stream isn't writeable and enableOfflineQueue options is false")

/** A circuit over a Redis whose commands the test answers, probes among them. */
function setUp() {
  const clock = createFakeClock()
  const waiting: Array<PromiseWithResolvers<string>> = []
  const probes: number[] = []
  const changes: boolean[] = []
  const ask = (): Promise<string> => {
    const command = Promise.withResolvers<string>()
    waiting.push(command)
    return command.promise
  }
  const probe = (): Promise<string> => {
    probes.push(clock.monotonicMs())
    return ask()
  }
  const circuit = new Circuit({ clock, probe, onChange: (isOpen) => changes.push(isOpen) })
  const fail = async (error: Error = DOWN): Promise<void> => {
    for (const command of waiting.splice(0)) command.reject(error)
    await quiescence()
  }
  /** How a command ends; `waits` when it has not. */
  const run = async (): Promise<string> => {
    const end = circuit.run(ask).then(
      () => 'answered',
      (error: unknown) => (error instanceof StoreAwayError ? 'away' : 'fault'),
    )
    return Promise.race([end, quiescence().then(() => 'waits')])
  }
  /** Asked and refused for as long as it takes. */
  const open = async (): Promise<void> => {
    const first = circuit.run(ask).catch(() => undefined)
    await clock.advance(1_200)
    await fail()
    await first
  }
  return { clock, circuit, waiting, probes, changes, ask, fail, run, open }
}

test('is open once nothing was answered for 1.2 s, and then refuses at once and sends nothing', async () => {
  const { circuit, waiting, changes, run, open } = setUp()
  await open()
  expect([circuit.isOpen, changes]).toEqual([true, [true]])
  const sent = waiting.length
  expect(await run()).toBe('away')
  expect(waiting).toHaveLength(sent)
})

test('the fault it refuses with is one of the store', () => {
  expect(new StoreAwayError()).toBeInstanceOf(StoreUnavailableError)
})

test('stays closed while faults are short of it: a connection that breaks is soon there again', async () => {
  const { clock, circuit, ask, fail } = setUp()
  for (let i = 0; i < 23; i += 1) {
    const one = circuit.run(ask).catch(() => undefined)
    await fail()
    await one
    await clock.advance(50)
  }
  expect([circuit.isOpen, clock.timers]).toEqual([false, 0])
  void circuit.run(ask).catch(() => undefined)
  await clock.advance(50)
  await fail()
  expect(circuit.isOpen).toBe(true)
})

test('an answer between begins the time anew, also one that is an error of another kind', async () => {
  for (const answer of ['ok', new Error('OOM command not allowed')]) {
    const { clock, circuit, waiting, ask, fail } = setUp()
    void circuit.run(ask).catch(() => undefined)
    void circuit.run(ask).catch(() => undefined)
    await clock.advance(1_000)
    const first = waiting.shift()
    if (typeof answer === 'string') first?.resolve(answer)
    else first?.reject(answer)
    await clock.advance(1_000)
    await fail()
    expect(circuit.isOpen).toBe(false)
  }
})

test('a fault of long ago says nothing of now', async () => {
  const { clock, circuit, ask, fail } = setUp()
  for (let i = 0; i < 2; i += 1) {
    const one = circuit.run(ask).catch(() => undefined)
    await fail()
    await one
    await clock.advance(60_000)
  }
  expect(circuit.isOpen).toBe(false)
})

test('who waits when it opens is refused then', async () => {
  const { clock, circuit, waiting, ask } = setUp()
  const first = circuit.run(ask).catch(() => 'fault')
  await clock.advance(1_199)
  const late = circuit.run(ask).catch((error: unknown) => error)
  await clock.advance(1)
  waiting[0]?.reject(DOWN)
  expect([await first, await late]).toEqual(['fault', expect.any(StoreAwayError)])
})

test('probes at once and then every second, whether a probe is answered or not', async () => {
  const { clock, probes, fail, open } = setUp()
  await open()
  expect(probes).toEqual([1_200])
  await clock.advance(1_000)
  await fail()
  await clock.advance(1_500)
  expect(probes).toEqual([1_200, 2_200, 3_200])
})

test('the answer to a probe closes it, and no probe follows', async () => {
  const { clock, circuit, waiting, probes, changes, run, open } = setUp()
  await open()
  await clock.advance(1_000)
  waiting.at(-1)?.resolve('1')
  await quiescence()
  expect([circuit.isOpen, changes, clock.timers]).toEqual([false, [true, false], 0])
  expect(await run()).toBe('waits')
  await clock.advance(5_000)
  expect(probes).toHaveLength(2)
})

test('so does a late answer to what was given up', async () => {
  const { clock, circuit, waiting, ask } = setUp()
  const commands = [circuit.run(ask), circuit.run(ask)].map((one) => one.catch(() => undefined))
  await clock.advance(1_200)
  waiting[0]?.reject(DOWN)
  await Promise.all(commands)
  expect(circuit.isOpen).toBe(true)
  waiting[1]?.resolve('late')
  await quiescence()
  expect(circuit.isOpen).toBe(false)
})

test('a connection that is there again is probed without waiting', async () => {
  const { clock, circuit, probes, open } = setUp()
  circuit.probeNow()
  expect(probes).toEqual([])
  await open()
  await clock.advance(300)
  circuit.probeNow()
  expect(probes).toEqual([1_200, 1_500])
  await clock.advance(1_000)
  expect(probes).toEqual([1_200, 1_500, 2_500])
})

test('stopped it probes no more', async () => {
  const { clock, circuit, probes, fail, open } = setUp()
  await open()
  circuit.stop()
  circuit.probeNow()
  await fail()
  await clock.advance(5_000)
  expect([probes.length, clock.timers]).toEqual([1, 0])
})

test('stopped before, it never opens', async () => {
  const { clock, circuit, probes, open } = setUp()
  circuit.stop()
  await open()
  expect([circuit.isOpen, probes.length, clock.timers]).toEqual([false, 0, 0])
})
