import { BenchError } from '../harness/bench-error.ts'
import { connectInspector } from './inspector.ts'
import { allocationShares, cpuShares, type AllocationNode, type CpuProfile } from './shares.ts'

/** Fine enough for shares of a percent within a second, and coarse enough to cost little. */
const CPU_SAMPLE_EVERY_MICROS = 500
/** A job allocates some tens of thousands of bytes. */
const ALLOCATION_SAMPLE_EVERY_BYTES = 65_536

/** Ends a profile; @returns the shares by place */
export type EndProfile = () => Promise<Record<string, number>>

/** What one process of ours can tell of itself while it runs. */
export interface RoleInspector {
  /** All that its main thread has allocated in V8's heap since its start; the content of buffers is not in it. */
  allocatedBytes(): Promise<number>
  /** CPU of all its threads since its start. */
  cpuMicros(): Promise<{ readonly user: number; readonly system: number }>
  /** Starts a profile of the main thread's CPU. */
  profileCpu(): Promise<EndProfile>
  /** Starts a profile of what is allocated. */
  profileAllocations(): Promise<EndProfile>
  close(): void
}

export async function inspectRole(port: number): Promise<RoleInspector> {
  const inspector = await connectInspector(port)
  const evaluate = async (expression: string): Promise<unknown> => {
    const answer = await inspector.send('Runtime.evaluate', { expression, returnByValue: true })
    const { result, exceptionDetails } = answer as { result: { value: unknown }; exceptionDetails?: object }
    if (exceptionDetails !== undefined) throw new BenchError(`${expression} failed in the process`)
    return result.value
  }
  return {
    allocatedBytes: async () =>
      (await evaluate(
        "process.getBuiltinModule('node:v8').getHeapStatistics().total_allocated_bytes",
      )) as number,
    cpuMicros: async () => (await evaluate('process.cpuUsage()')) as { user: number; system: number },
    profileCpu: async () => {
      await inspector.send('Profiler.enable')
      await inspector.send('Profiler.setSamplingInterval', { interval: CPU_SAMPLE_EVERY_MICROS })
      await inspector.send('Profiler.start')
      return async () => {
        const { profile } = (await inspector.send('Profiler.stop')) as { profile: CpuProfile }
        await inspector.send('Profiler.disable')
        return cpuShares(profile)
      }
    },
    profileAllocations: async () => {
      await inspector.send('HeapProfiler.enable')
      await inspector.send('HeapProfiler.startSampling', {
        samplingInterval: ALLOCATION_SAMPLE_EVERY_BYTES,
        // What has been collected was allocated all the same.
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      })
      return async () => {
        const answer = await inspector.send('HeapProfiler.stopSampling')
        await inspector.send('HeapProfiler.disable')
        return allocationShares((answer as { profile: { head: AllocationNode } }).profile.head)
      }
    },
    close: () => inspector.close(),
  }
}
