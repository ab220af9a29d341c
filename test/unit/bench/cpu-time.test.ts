import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readCpuSeconds, ticksOf } from '../../../bench/harness/cpu-time.ts'

const BURNT_SECONDS = 0.1
const BURN = `while (process.cpuUsage().user < ${BURNT_SECONDS * 1e6}) {}`
/** A tick is 10 ms. */
const SLACK_SECONDS = 0.03

test('a line of stat is read from behind the name, which may hold anything', () => {
  const line = '42 (a ) b (c) S 1 42 42 0 -1 4194560 10 20 0 0 100 20 3 4 20 0 1 0 500'
  expect(ticksOf(line)).toBe(127)
})

/** Two processes start and burn CPU, which takes its time where many others do. */
const PATIENCE = { timeout: 60_000 }

test(
  'the time of a process is that of its children too, of those that live and of those that have ended',
  PATIENCE,
  async (context) => {
    if (!existsSync(`/proc/self/task/${process.pid}/children`)) context.skip('no lists of children in /proc')
    const own = (): number => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
    const ofOthers = (): number => readCpuSeconds(process.pid) - own()
    const atFirst = ofOthers()

    spawnSync(process.execPath, ['-e', BURN])
    const afterOne = ofOthers()
    expect(afterOne - atFirst).toBeGreaterThan(BURNT_SECONDS - SLACK_SECONDS)

    const child = spawn(process.execPath, ['-e', `${BURN}; console.log('burnt'); process.stdin.resume()`])
    await once(child.stdout, 'data')
    expect(ofOthers() - afterOne).toBeGreaterThan(BURNT_SECONDS - SLACK_SECONDS)
    child.stdin.end()
    await once(child, 'exit')
  },
)
