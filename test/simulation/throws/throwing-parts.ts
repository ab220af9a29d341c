import type { HttpCaller } from '../../../src/ports/http-caller.ts'
import type { JobSource } from '../../../src/ports/jobs.ts'
import { NO_WINDOWS, type WindowSource } from '../../../src/ports/windows.ts'
import type { Thrower } from '../story/plan.ts'

/** Throws if this step is to throw for the team. */
export function throwFor(thrower: Thrower | null, at: Thrower['at'], team: string): void {
  if (thrower?.at === at && thrower.team === team) throw new TypeError(`planted: ${at} of ${team}`)
}

/** A caller that throws, or whose results nothing can be made of. */
export function throwingCaller(thrower: Thrower | null, caller: HttpCaller): HttpCaller {
  if (thrower === null) return caller
  return {
    call: async (call, signal) => {
      throwFor(thrower, 'call', call.team)
      const result = await caller.call(call, signal)
      if (thrower.at !== 'attempt' || call.team !== thrower.team) return result
      if (result.kind === 'aborted' || result.kind === 'local_fault') return result
      return {
        ...result,
        get durationMs(): number {
          throw new TypeError('planted: the end of an attempt')
        },
      }
    },
    close: () => caller.close(),
  }
}

/** Throws while ends of the team are prepared, before anything is sent. */
export function throwingSource(
  thrower: Thrower | null,
  open: (windows: WindowSource) => JobSource,
): JobSource {
  const source = open({
    ...NO_WINDOWS,
    mutes: (team) => {
      throwFor(thrower, 'window', team)
      return null
    },
  })
  if (thrower?.at !== 'end') return source
  const { finish } = source
  source.finish = async (ends) => {
    for (const { type, work } of ends) if (type !== 'quarantined') throwFor(thrower, 'end', work.team)
    return finish.call(source, ends)
  }
  return source
}
