import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartupError } from '../domain/errors.ts'
import { listenFailure } from '../domain/net/listen-failure.ts'
import { listenPlace } from '../domain/net/listen-address.ts'
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
  /** What is wrong when the process should be started anew; nothing when left out. */
  readonly lifeChecks?: readonly ReadinessCheck[]
  readonly renderMetrics: () => Promise<{ contentType: string; body: string }>
}

/**
 * Answers probes and scrapes. `/healthz` says that the process runs, `/readyz` that it can work, `/metrics` how it
 * does. Not started → listening → stopped, for good; every call may be repeated, and `stop` before `start` is legal.
 */
export interface OpsServer extends AsyncDisposable {
  /** @returns the port. Throws StartupError when it cannot be taken. */
  start(): Promise<number>
  /** Resolves when the port is free again. */
  stop(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** A check that takes longer has failed: kubelet's probes wait one second by default. */
const CHECK_TIMEOUT_MS = 800
const TEXT = 'text/plain; charset=utf-8'

export function createOpsServer(options: OpsServerOptions): OpsServer {
  let server: Server | null = null
  let starting: Promise<number> | null = null
  let stopping: Promise<void> | null = null
  const start = (): Promise<number> => {
    if (stopping !== null) return Promise.reject(new Error('The ops server was stopped.'))
    starting ??= listen((server = createServer(respond(options))), options)
    return starting
  }
  const stop = (): Promise<void> => {
    stopping ??= settled(starting).then(() => (server === null ? undefined : close(server)))
    return stopping
  }
  return { start, stop, [Symbol.asyncDispose]: stop }
}

function respond(options: OpsServerOptions) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, options).then(
      (result) => send(request, response, result),
      (error: unknown) =>
        send(request, response, { status: 500, contentType: TEXT, body: `${describe(error)}\n` }),
    )
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
      return { status: 200, ...(await options.renderMetrics()) }
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
    const place = { host: options.host, port: options.port, variable: 'PUNCTUAL_OPS_PORT' }
    reject(new StartupError(listenFailure(error, place), { cause: error }))
  })
  server.listen(listenPlace(options.port, options.host), () =>
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

async function settled(promise: Promise<unknown> | null): Promise<void> {
  await promise?.catch(() => undefined)
}

function describe(error: unknown): string {
  return redactText(error instanceof Error ? error.message : String(error))
}
