import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A live process. The system reuses a pid, but not a pid with the same start time. */
export interface ProcessIdentity {
  readonly pid: number
  readonly startedAt: string
  /** Command as process lists show it; a server may have changed it. */
  readonly command: string
}

/** Null when there is no such process, or only a zombie. */
export function identityOf(pid: number): ProcessIdentity | null {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
}

export function isSameProcess(process: ProcessIdentity): boolean {
  return identityOf(process.pid)?.startedAt === process.startedAt
}

/** False when the process is gone. */
export function signalProcess(target: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  if (!isSameProcess(target)) return false
  try {
    return process.kill(target.pid, signal)
  } catch {
    // It ended between the check and the signal.
    return false
  }
}

/** `/proc/<pid>/stat`: after the name in parentheses come state (field 3) … start time in ticks (field 22). */
function fromProc(pid: number): ProcessIdentity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state] = fields
    const startedAt = fields[19]
    if (state === 'Z' || state === 'X' || startedAt === undefined) return null
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { pid, startedAt, command }
  } catch {
    return null
  }
}

function fromPs(pid: number): ProcessIdentity | null {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=,command=', '-p', String(pid)], { encoding: 'utf8' })
    const match = /^\s*(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/m.exec(line)
    if (match === null || match[1]?.startsWith('Z') === true) return null
    return { pid, startedAt: match[2] ?? '', command: (match[3] ?? '').trim() }
  } catch {
    return null
  }
}
