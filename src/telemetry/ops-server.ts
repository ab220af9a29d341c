import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartupError } from '../domain/errors.ts'
import { listenFailure, listenOptions } from '../domain/net/listen-address.ts'
import { redactText } from './redaction.ts'

/** One thing the process needs before it may be given work. */
export interface ReadinessCheck {
  readonly name: string
  /** null when ready, else the reason in a few words; throwing counts as not ready. */
  readonly failure: () => string | null | Promise<string | null>
}

export interface OpsServerOptions {
  /** `*` = all addresses. */
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly checks: readonly ReadinessCheck[]
  /** A failure of one of these asks for a restart of the process. */
  readonly lifeChecks?: readonly ReadinessCheck[]
  /** @param accept the header of that name; undefined = none */
  readonly renderMetrics: (accept: string | undefined) => Promise<{ contentType: string; body: string }>
}

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** A slower check counts as failed: by default the kubelet's probes wait one second. */
const CHECK_TIMEOUT_MS = 800
const TEXT = 'text/plain; charset=utf-8'

/**
 * Serves probes and scrapes: `/healthz` says that the process runs, `/readyz` that it can work, `/metrics` how it does.
 * Owns its port. Not started → listening → stopped, for good; every call may be repeated, and `stop` may come first.
 */
export class OpsServer implements AsyncDisposable {
  readonly #options: OpsServerOptions
  #server: Server | null = null
  #starting: Promise<number> | null = null
  #stopping: Promise<void> | null = null

  constructor(options: OpsServerOptions) {
    this.#options = options
  }

  /** @returns the port. @throws StartupError when the port cannot be opened */
  start(): Promise<number> {
    if (this.#stopping !== null) return Promise.reject(new Error('The ops server was stopped.'))
    this.#starting ??= listen((this.#server = createServer(respond(this.#options))), this.#options)
    return this.#starting
  }

  /** Resolves when the port is free again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #stop(): Promise<void> {
    await this.#starting?.catch(() => undefined)
    if (this.#server !== null) await close(this.#server)
  }
}

function respond(options: OpsServerOptions) {
  const fault = (error: unknown) => ({ status: 500, contentType: TEXT, body: `${describe(error)}\n` })
  return (request: IncomingMessage, response: ServerResponse): void => {
    void answer(request, options)
      .catch(fault)
      .then((result) => send(request, response, result))
  }
}

async function answer(request: IncomingMessage, options: OpsServerOptions): Promise<Answer> {
  const path = (request.url ?? '/').replace(/\?.*$/s, '')
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { status: 405, contentType: TEXT, body: 'Only GET is answered here.\n' }
  }
  switch (path) {
    case '/healthz':
      return liveness(options.lifeChecks ?? [])
    case '/readyz':
      return readiness(options.checks)
    case '/metrics':
      return { status: 200, ...(await options.renderMetrics(request.headers.accept)) }
    default:
      return { status: 404, contentType: TEXT, body: 'Try /healthz, /readyz or /metrics.\n' }
  }
}

async function liveness(checks: readonly ReadinessCheck[]): Promise<Answer> {
  const failures = (await Promise.all(checks.map(failureOf))).filter((failure) => failure !== null)
  const isAlive = failures.length === 0
  return { status: isAlive ? 200 : 503, contentType: TEXT, body: `${isAlive ? 'ok' : failures.join('; ')}\n` }
}

async function readiness(checks: readonly ReadinessCheck[]): Promise<Answer> {
  const results = await Promise.all(
    checks.map(async (check) => [check.name, await failureOf(check)] as const),
  )
  const ready = results.every(([, failure]) => failure === null)
  const body = {
    status: ready ? 'ready' : 'not_ready',
    checks: Object.fromEntries(results.map(([name, failure]) => [name, failure ?? 'ok'])),
  }
  return { status: ready ? 200 : 503, contentType: 'application/json', body: `${JSON.stringify(body)}\n` }
}

async function failureOf(check: ReadinessCheck): Promise<string | null> {
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(resolve, CHECK_TIMEOUT_MS, `no answer within ${CHECK_TIMEOUT_MS} ms`)
  try {
    return await Promise.race([check.failure(), late])
  } catch (error) {
    return describe(error)
  } finally {
    clearTimeout(timer)
  }
}

function send(request: IncomingMessage, response: ServerResponse, result: Answer): void {
  const headers = { 'content-type': result.contentType, 'cache-control': 'no-store' }
  response.writeHead(result.status, result.status === 405 ? { ...headers, allow: 'GET, HEAD' } : headers)
  response.end(request.method === 'HEAD' ? undefined : result.body)
}

function listen(server: Server, options: OpsServerOptions): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  server.once('error', (error: NodeJS.ErrnoException) => {
    const address = { host: options.host, port: options.port, variable: 'PUNCTUAL_OPS_PORT' }
    reject(new StartupError(listenFailure(error, address), { cause: error }))
  })
  server.listen(listenOptions(options.port, options.host), () =>
    resolve((server.address() as AddressInfo).port),
  )
  return promise
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  return promise
}

function describe(error: unknown): string {
  return redactText(error instanceof Error ? error.message : String(error))
}
