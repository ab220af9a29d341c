import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../../../bench/harness/ports.ts'
import { until } from '../../support/until.ts'
import { inspectRole, type RoleInspector } from '../../../bench/profiling/role-inspector.ts'

/** Allocates strings for ever, in turns that let the inspector in between. */
const PROGRAM = `
let kept = []
setInterval(() => { kept = Array.from({ length: 20_000 }, (_, i) => ({ text: 'number ' + i })) }, 1)
process.on('SIGTERM', () => process.exit())
`
let child: ChildProcess | null = null
let role: RoleInspector | null = null

afterEach(async () => {
  role?.close()
  if (child === null || child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
})

async function inspectProgram(): Promise<RoleInspector> {
  const port = await freePort()
  child = spawn(process.execPath, [`--inspect=127.0.0.1:${port}`, '-e', PROGRAM], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // It says where it listens.
  await once(child.stderr as NodeJS.ReadableStream, 'data')
  return (role = await inspectRole(port))
}

/** Until it has allocated so much more, with pauses: a process that is asked all the time does little else. */
async function untilAllocated(of: RoleInspector, bytes: number): Promise<void> {
  const before = await of.allocatedBytes()
  await until('it has allocated', async () => (await of.allocatedBytes()) >= before + bytes)
}

test('a process tells its CPU and its allocations, and where they go, while it runs', async () => {
  const inspected = await inspectProgram()
  const before = await inspected.cpuMicros()
  const endCpu = await inspected.profileCpu()
  await untilAllocated(inspected, 32_000_000)
  const cpu = await endCpu()
  const endAllocations = await inspected.profileAllocations()
  await untilAllocated(inspected, 32_000_000)
  const allocations = await endAllocations()
  const after = await inspected.cpuMicros()
  expect(after.user + after.system).toBeGreaterThan(before.user + before.system)
  for (const shares of [cpu, allocations]) {
    expect(Object.values(shares).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1)
  }
})

test('an inspector that is gone is an error, not a wait', async () => {
  const inspected = await inspectProgram()
  const exited = once(child as ChildProcess, 'exit')
  child?.kill('SIGKILL')
  await exited
  await expect(inspected.allocatedBytes()).rejects.toThrow('the process is gone')
})
