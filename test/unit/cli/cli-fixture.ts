/** The client verbs against an API that answers as it is told. */
import { Command, CommanderError } from 'commander'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach } from 'vitest'
import { registerClientCommands } from '../../../src/cli/commands.ts'
import type { LocalFolder } from '../../../src/cli/connection/local-api.ts'
import type { OutputStream } from '../../../src/cli/output/output-stream.ts'

export const CREATED =
  '{"success":true,"queue_id":7,"job_id":16,"scheduled_at":"2026-11-21T10:00:00.000+00:00","message":"Scheduled successfully"}'

/** When every command runs. */
export const NOW_MS = Date.parse('2026-11-21T12:00:00Z')

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Record<string, string>
}

export interface Ran {
  readonly out: string
  readonly err: string
  /** 0, or the code of what was thrown. */
  readonly code: number
}

interface Given {
  readonly serverGiven?: string | null
  readonly tokenDefault?: string | null
  readonly local?: LocalFolder['running']
  readonly stdin?: AsyncIterable<Uint8Array>
  readonly sleep?: (milliseconds: number) => Promise<void>
  readonly stdout?: OutputStream
  readonly ask?: (question: string) => Promise<string | null>
  readonly interrupted?: () => Promise<void>
}

export interface ClientFixture {
  address: string
  received: Received[]
  answer: Answer
  /** Answers before `answer`, one a request. */
  firstAnswers: Answer[]
  run(args: readonly string[], given?: Given): Promise<Ran>
}

/** Started anew for each test of the file. */
export function useApi(): ClientFixture {
  const api: ClientFixture = {
    address: '',
    received: [],
    answer: { status: 201, body: CREATED },
    firstAnswers: [],
    run: (args, given = {}) => run(args, { serverGiven: api.address, ...given }),
  }
  let server: Server
  beforeEach(async () => {
    api.received = []
    api.answer = { status: 201, body: CREATED }
    api.firstAnswers = []
    server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        api.received.push({ method: request.method, url: request.url, headers: request.headers, body })
        const { status, headers, body: text } = api.firstAnswers.shift() ?? api.answer
        response.writeHead(status, headers).end(text)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    api.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return api
}

/** Standard input that holds a text. */
export async function* inputOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

async function run(
  args: readonly string[],
  {
    serverGiven = '',
    local = null,
    tokenDefault = 'secret',
    stdin = inputOf(''),
    sleep = () => Promise.reject(new Error('nothing to wait for')),
    stdout,
    ask = null,
    interrupted = () => Promise.resolve(),
  }: Omit<Given, 'ask'> & { readonly ask?: Given['ask'] | null },
): Promise<Ran> {
  let out = ''
  let err = ''
  const program = new Command('punctual').exitOverride()
  program.configureOutput({ writeErr: (text) => (err += text), writeOut: (text) => (out += text) })
  registerClientCommands(program, {
    serverGiven,
    serverDefault: 'http://127.0.0.1:1',
    tokenDefault,
    findLocal: async () => ({ path: '.punctual', running: local }),
    version: '1.2.3',
    stdout: stdout ?? { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    stdin,
    sleep,
    interrupted,
    ask,
    nowMs: () => NOW_MS,
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return { out, err, code: 0 }
  } catch (failure) {
    if (!(failure instanceof CommanderError)) throw failure
    return { out, err, code: failure.exitCode }
  }
}
