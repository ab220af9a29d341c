import { BenchError } from '../harness/bench-error.ts'

const ANSWERS_WITHIN_MS = 30_000

/** One process's inspector, as Chrome's DevTools protocol. A process that is told to end waits until it is closed. */
export interface Inspector {
  send(method: string, params?: object): Promise<unknown>
  close(): void
}

interface Answer {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
}
interface Waiting {
  readonly method: string
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** Connects to a Node that was started with `--inspect=127.0.0.1:<port>`. */
export async function connectInspector(port: number): Promise<Inspector> {
  const listed = await fetch(`http://127.0.0.1:${port}/json/list`)
  const [first] = (await listed.json()) as Array<{ readonly webSocketDebuggerUrl: string }>
  if (first === undefined) throw new BenchError(`no inspector on port ${port}`)
  const socket = new WebSocket(first.webSocketDebuggerUrl)
  const waiting = new Map<number, Waiting>()
  let lastId = 0

  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer
    // Anything without a known id is an event, and none is asked for.
    const asked = waiting.get(answer.id ?? 0)
    if (asked === undefined) return
    waiting.delete(answer.id ?? 0)
    if (answer.error === undefined) asked.resolve(answer.result)
    else asked.reject(new BenchError(`${asked.method}: ${answer.error.message}`))
  })
  socket.addEventListener('close', () => {
    for (const { method, reject } of waiting.values()) reject(goneError(method))
    waiting.clear()
  })
  await opened(socket, port)

  return {
    send: (method, params = {}) => {
      const id = (lastId += 1)
      const answered = new Promise<unknown>((resolve, reject) => {
        // A closed socket would drop the message and say nothing.
        if (socket.readyState !== WebSocket.OPEN) throw goneError(method)
        waiting.set(id, { method, resolve, reject })
        socket.send(JSON.stringify({ id, method, params }))
      })
      return within(answered, method)
    },
    close: () => socket.close(),
  }
}

function goneError(method: string): BenchError {
  return new BenchError(`${method}: the process is gone`)
}

function opened(socket: WebSocket, port: number): Promise<void> {
  const open = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new BenchError(`no inspector answers on port ${port}`)))
  })
  return within(open, 'connecting to the inspector')
}

async function within<T>(answered: Promise<T>, what: string): Promise<T> {
  let cut: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new BenchError(`${what}: no answer within ${ANSWERS_WITHIN_MS / 1000} s`))
    cut = setTimeout(fail, ANSWERS_WITHIN_MS)
  })
  try {
    return await Promise.race([answered, late])
  } finally {
    clearTimeout(cut)
  }
}
