import type { Program } from '../../support/servers/processes.ts'

/** Lets a role take {@link collectGarbage}, at a port that it says on standard error. */
export const COLLECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' }

/** What a process holds once its garbage is collected, in bytes. */
export interface HeldBytes {
  /** Objects of JavaScript. */
  readonly heapUsed: number
  /** Pages of the heap, with what is free in them. */
  readonly heapTotal: number
  /** What objects hold outside of the heap, buffers included. */
  readonly external: number
}

const LISTENS = /^Debugger listening on (ws:.+)$/
/** What Node says of it on standard error. */
const WORDS = [LISTENS, /^For help, see: https:/, /^Debugger attached/, /^Debugger ending/]
const COLLECTED_MS = 30_000
const COLLECT = { id: 1, method: 'HeapProfiler.collectGarbage' }
const MEASURE = {
  id: 2,
  method: 'Runtime.evaluate',
  params: { expression: 'process.memoryUsage()', returnByValue: true },
}

/** Has a process collect all its garbage and give free pages back; without, its size says what it did lately. */
export async function collectGarbage({ errorLines }: Program): Promise<HeldBytes> {
  const url = errorLines.flatMap((line) => LISTENS.exec(line)?.[1] ?? [])[0]
  if (url === undefined) throw new Error('it does not take orders to collect garbage')
  const socket = new WebSocket(url)
  const { promise, resolve, reject } = Promise.withResolvers<HeldBytes>()
  const late = setTimeout(() => reject(new Error(`no answer within ${COLLECTED_MS} ms`)), COLLECTED_MS)
  socket.addEventListener('open', () => {
    for (const order of [COLLECT, MEASURE]) socket.send(JSON.stringify(order))
  })
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as { id?: number; result: { result: { value: HeldBytes } } }
    if (answer.id === MEASURE.id) resolve(answer.result.result.value)
  })
  socket.addEventListener('error', () => reject(new Error('the connection failed')))
  try {
    return await promise
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
