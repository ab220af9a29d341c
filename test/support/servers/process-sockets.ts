/** The connections of a process, as Linux shows them in /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const ESTABLISHED = '01'

/** Those to this port, by inode: one that is opened anew has another. None of a process that has ended. */
export function socketsTo(pid: number, port: number): readonly string[] {
  try {
    const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)))
    const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
    return ['tcp', 'tcp6'].flatMap((family) =>
      readFileSync(`/proc/${pid}/net/${family}`, 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, , to, state, , , , , , inode]) => {
          return to?.endsWith(remote) === true && state === ESTABLISHED && own.has(`socket:[${inode}]`)
        })
        .map(([, , , , , , , , , inode = '']) => inode),
    )
  } catch {
    // It has ended meanwhile.
    return []
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
