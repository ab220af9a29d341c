import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const BODY_BYTES_MAX = 1024 * 1024
const CONNECTIONS_MAX = 200

export interface Received {
  readonly method: string
  readonly path: string
  /** Names and values in turn, as they were received. */
  readonly rawHeaders: readonly string[]
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface ReceiverOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly status: number
  /** How long each answer is delayed. */
  readonly delayMs: number
  readonly answer: string
  readonly onCall: (call: Received) => void
}

/** Answers every call alike. */
export class CallReceiver {
  readonly #options: ReceiverOptions
  readonly #server: Server
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(options: ReceiverOptions) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#receive(request, response))
    this.#server.maxConnections = CONNECTIONS_MAX
  }

  /** Listens. @returns its address @throws when it cannot listen */
  async start(): Promise<string> {
    const { host, port } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    })
    const { port: taken } = this.#server.address() as AddressInfo
    return `http://${host.includes(':') ? `[${host}]` : host}:${taken}`
  }

  /** Ends the server; calls that wait for their answer get none. */
  stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#server.closeAllConnections()
    return new Promise((resolve) => void this.#server.close(() => resolve()))
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    let bytes = 0
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength
        if (bytes <= BODY_BYTES_MAX) chunks.push(chunk)
      }
    } catch {
      // The caller hung up before the end of the body.
      return
    }
    if (bytes > BODY_BYTES_MAX) return void response.writeHead(413, { connection: 'close' }).end()
    const { method = '', url = '', rawHeaders } = request
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : value,
      ]),
    )
    this.#options.onCall({ method, path: url, rawHeaders, headers, body: Buffer.concat(chunks) })
    this.#answer(response)
  }

  #answer(response: ServerResponse): void {
    const { status, delayMs, answer } = this.#options
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      response.writeHead(status).end(answer)
    }, delayMs)
    this.#timers.add(timer)
  }
}
