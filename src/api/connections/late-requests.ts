import type { Socket } from 'node:net'
import type { Clock } from '../../ports/runtime.ts'

/** One turn of the event loop to end the current one, one to accept a waiting connection, one to read its request. */
export const TURNS_TO_READ = 3
/** What a request gets beyond its time when some of it had come and we had not read it. */
const AFTER_PAUSE_MS = 10_000

interface LateRequestParts {
  readonly clock: Clock
  /** Whether the request has come meanwhile. */
  hasCome(): boolean
  onLate(): void
}

/**
 * Judges a request whose time is over. Node's timers run before it reads, so that after a pause of ours they blame whoever
 * has sent everything in time: what lies in the kernel is read first, and a client of which something did lie there gets
 * time to send the rest. Node itself looks at this request no more.
 */
export function whenLate(socket: Socket, { clock, hasCome, onLate }: LateRequestParts): void {
  const { bytesRead } = socket
  afterTurns(TURNS_TO_READ, clock, () => {
    if (socket.destroyed || hasCome()) return
    if (socket.bytesRead === bytesRead) return onLate()
    const cancel = clock.after(AFTER_PAUSE_MS, () => {
      socket.off('close', cancel)
      if (!hasCome()) onLate()
    })
    socket.once('close', cancel)
  })
}

function afterTurns(turns: number, clock: Clock, run: () => void): void {
  if (turns === 0) run()
  else clock.nextTurn(() => afterTurns(turns - 1, clock, run))
}
