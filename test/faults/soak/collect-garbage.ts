import type { Program } from '../../support/servers/processes.ts'

/** Lets a role take {@link collectGarbage}, at a port that it says on standard error. */
export const COLLECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' }

const LISTENS = /^Debugger listening on (ws:.+)$/
/** What Node says of it on standard error. */
const WORDS = [LISTENS, /^For help, see: https:/, /^Debugger attached/, /^Debugger ending/]
const COLLECTED_MS = 30_000

/** Has a process collect all its garbage and give free pages back; without, its size says what it did lately. */
export async function collectGarbage({ errorLines }: Program): Promise<void> {
  const url = errorLines.flatMap((line) => LISTENS.exec(line)?.[1] ?? [])[0]
  if (url === undefined) throw new Error('it does not take orders to collect garbage')
  const socket = new WebSocket(url)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const late = setTimeout(() => reject(new Error(`no answer within ${COLLECTED_MS} ms`)), COLLECTED_MS)
  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' })),
  )
  socket.addEventListener('message', () => resolve())
  socket.addEventListener('error', () => reject(new Error('the connection failed')))
  try {
    await promise
  } finally {
    clearTimeout(late)
    socket.close()
  }
}

/** Lines on standard error that are there because of it. */
export function wordsOf(programs: readonly Program[]): string[] {
  const lines = programs.flatMap(({ errorLines }) => errorLines)
  return lines.filter((line) => WORDS.some((word) => word.test(line)))
}
