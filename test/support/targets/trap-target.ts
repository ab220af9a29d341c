/** A target that does something at one moment of its first exchange, and answers every later one. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TrapTarget {
  readonly url: string
  /** One for each whole request that came, the first included. */
  readonly arrivals: ReadonlyArray<{
    readonly jobId: number | null
    readonly attempt: number | null
    readonly body: string
  }>
  close(): Promise<void>
}

/** `accept`: nothing has been read. `headers`: of the answer, only its head is sent. `body`: half of it. */
export type TrapMoment = 'accept' | 'headers' | 'body'

/** What was sent has this long to come to the one that is to die. */
const ON_THE_WAY_MS = 30
const BODY = 'half-whole'

export async function startTrapTarget(moment: TrapMoment, spring: () => void): Promise<TrapTarget> {
  const arrivals: Array<TrapTarget['arrivals'][number]> = []
  let isArmed = true

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const number = (name: string) =>
      request.headers[name] === undefined ? null : Number(request.headers[name])
    const body = Buffer.concat(chunks).toString('utf8')
    arrivals.push({ jobId: number('x-punctual-job-id'), attempt: number('x-punctual-attempt'), body })
    response.writeHead(200, { 'content-length': BODY.length })
    if (!isArmed) {
      response.end(BODY)
      return
    }
    isArmed = false
    response.flushHeaders()
    if (moment === 'body') response.write(BODY.slice(0, 5))
    setTimeout(spring, ON_THE_WAY_MS)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.on('connection', () => {
    if (moment !== 'accept' || !isArmed) return
    isArmed = false
    spring()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
