import { expect, test } from 'vitest'
import { COSTLY_PER_TEAM_MAX, CostGate, type SlicedWork } from '../../../../src/domain/shares/cost-gate.ts'

/** A gate whose turns of the event loop a test makes; each piece of work takes 1 ms of its clock. */
function world() {
  let nowMs = 0
  const waiting: Array<() => void> = []
  const gate = new CostGate({ monotonicMs: () => nowMs, nextTurn: (run) => void waiting.push(run) })
  const log: string[] = []
  /** A turn of the event loop; what was ready before runs first, as a push would. */
  const turn = async (): Promise<void> => {
    const runs = waiting.splice(0)
    log.push('|')
    for (const run of runs) run()
    await settled()
  }
  function* work(name: string, pieces: number, pieceMs = 1): SlicedWork<string> {
    for (let i = 0; i < pieces; i += 1) {
      log.push(`${name}${i + 1}`)
      nowMs += pieceMs
      yield
    }
    return name
  }
  return { gate, log, turn, work, pending: () => waiting.length, told: () => log.splice(0).join(' ') }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await Promise.resolve()
}

test('work begins at once when nobody else is here, and stops after each slice', async () => {
  const { gate, turn, work, told, pending } = world()
  const end = gate.enter('a')?.run(work('a', 2))
  expect(told()).toBe('a1')
  await settled()
  expect(told()).toBe('')
  await turn()
  expect(told()).toBe('| a2')
  await turn()
  await expect(end).resolves.toBe('a')
  await turn()
  expect(pending(), 'an idle gate asks for no turn').toBe(0)
})

test('pieces that take less than a slice are done in one', async () => {
  const { gate, work, told } = world()
  void gate.enter('a')?.run(work('a', 6, 0.4))
  expect(told()).toBe('a1 a2 a3')
})

test('between two slices of anybody, all that is ready runs', async () => {
  const { gate, turn, work, told } = world()
  void gate.enter('a')?.run(work('a', 2))
  void gate.enter('a')?.run(work('b', 2))
  void gate.enter('z')?.run(work('z', 2))
  for (let i = 0; i < 6; i += 1) await turn()
  expect(told()).toBe('a1 | b1 | z1 | a2 | z2 | b2 |')
})

test('teams take turns, whatever the number of their requests', async () => {
  const { gate, turn, work, told } = world()
  for (const name of ['a', 'b', 'c', 'd']) void gate.enter('one')?.run(work(name, 1))
  for (const name of ['x', 'y']) void gate.enter('two')?.run(work(name, 1))
  for (let i = 0; i < 6; i += 1) await turn()
  expect(told()).toBe('a1 | b1 | x1 | c1 | y1 | d1 |')
})

test('a team has one step at a time, and all teams two', async () => {
  const { gate, turn, told, log } = world()
  const ends = new Map<string, () => void>()
  const step = (team: string, name: string) =>
    gate.enter(team)?.step(() => {
      log.push(name)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    })
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    await settled()
  }
  void step('a', 'a1')
  void step('a', 'a2')
  void step('b', 'b1')
  void step('c', 'c1')
  for (let i = 0; i < 4; i += 1) await turn()
  expect(told()).toBe('a1 | b1 | | |')
  await end('a1')
  expect(told(), 'the team that has waited longer comes first').toBe('c1')
  await turn()
  await end('b1')
  expect(told()).toBe('| a2')
})

test('slices go on while as many steps wait for Redis as may', async () => {
  const { gate, turn, work, told } = world()
  for (const team of ['a', 'b', 'c']) void gate.enter(team)?.step(() => new Promise(() => undefined))
  for (let i = 0; i < 3; i += 1) await turn()
  told()
  void gate.enter('d')?.run(work('d', 1))
  expect(told()).toBe('d1')
})

test('a fault ends only the work that threw', async () => {
  const { gate, turn, work, told } = world()
  function* broken(): SlicedWork<string> {
    yield
    throw new Error('no')
  }
  const failed = Promise.allSettled([
    gate.enter('a')?.run(broken()),
    gate.enter('b')?.step(() => Promise.reject(new Error('neither'))),
  ])
  const good = gate.enter('a')?.run(work('a', 1))
  for (let i = 0; i < 6; i += 1) await turn()
  expect(await failed).toMatchObject([{ reason: { message: 'no' } }, { reason: { message: 'neither' } }])
  await expect(good).resolves.toBe('a')
  expect(told()).toContain('a1')
})

test('whoever leaves takes no turn any more', async () => {
  const { gate, turn, work, told, pending } = world()
  const [first, second] = [gate.enter('a'), gate.enter('a')]
  const begun = first?.run(work('a', 3))
  const waiting = second?.run(work('b', 3))
  second?.leave()
  second?.leave()
  await expect(waiting).resolves.toBeNull()
  await turn()
  first?.leave()
  await expect(begun).resolves.toBeNull()
  await expect(first?.step(() => Promise.resolve(1))).resolves.toBeNull()
  for (let i = 0; i < 3; i += 1) await turn()
  expect(told()).toBe('a1 | a2 | | |')
  expect(pending()).toBe(0)
})

test('a team has a bounded number of requests here, and none is refused for what others hold', () => {
  const { gate } = world()
  const visits = Array.from({ length: COSTLY_PER_TEAM_MAX }, () => gate.enter('a'))
  expect(visits).not.toContain(null)
  expect(gate.enter('a')).toBeNull()
  visits[0]?.leave()
  visits[0]?.leave()
  expect(gate.enter('a')).not.toBeNull()
  expect(gate.enter('a')).toBeNull()
  for (let team = 0; team < 20; team += 1) {
    for (let i = 0; i < COSTLY_PER_TEAM_MAX; i += 1) gate.enter(`b${team}`)
  }
  expect(gate.enter('new')).not.toBeNull()
  expect(gate.enter('new'), 'all teams together have as many as may be').toBeNull()
  expect(gate.admit('a'), 'what is bounded elsewhere').not.toBeNull()
})
