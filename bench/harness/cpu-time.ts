import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second in /proc; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/**
 * User and system time so far, in seconds, of a process and of all it has started: of those that live, and of those that
 * have ended and were waited for. Throws when the process itself has ended.
 */
export function readCpuSeconds(pid: number): number {
  const own = ticksOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return own / TICKS_PER_SECOND + childrenOf(pid).reduce((sum, child) => sum + childCpuSeconds(child), 0)
}

/** A child that ends in between is left to its parent's count. */
function childCpuSeconds(pid: number): number {
  try {
    return readCpuSeconds(pid)
  } catch {
    return 0
  }
}

/** Of a line of /proc/PID/stat: utime, stime, and cutime and cstime, those of children that were waited for. */
export function ticksOf(stat: string): number {
  // The name in parentheses may hold spaces; utime is field 14.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
}

/** Each thread has children of its own. */
function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
}
