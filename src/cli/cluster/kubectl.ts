import { spawn } from 'node:child_process'
import { cliError, MISUSED, UNAVAILABLE } from '../cli-error.ts'

/** For a question to the API server, with its login. */
const ANSWER_MS = 60_000
const ANSWER_CHARACTERS_MAX = 16 * 1024 * 1024
/** Until a forward stands. */
const FORWARD_MS = 30_000
/** Ways to end the program from outside, which end a forward as well. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const FORWARDING = /^Forwarding from 127\.0\.0\.1:(\d+) /m

/** Where kubectl looks and as whom. */
export interface KubectlFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

export interface Forward {
  /** On 127.0.0.1. */
  readonly port: number
  /** Resolves when it is gone. */
  close(): Promise<void>
}

/** The kubectl on PATH: it knows every way to log in to a cluster and to forward a port of it. */
export class Kubectl {
  readonly #flags: readonly string[]

  constructor({ kubeconfig, context }: KubectlFlags) {
    this.#flags = [
      ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
      ...(context === undefined ? [] : [`--context=${context}`]),
    ]
  }

  /** The JSON that it prints. @throws CommanderError with the last line of its complaint */
  async read(args: readonly string[]): Promise<unknown> {
    const { child, said, ended } = start([...args, '--output=json', ...this.#flags])
    let text = ''
    child.stdout.on('data', (chunk: string) => {
      text += chunk
      if (text.length > ANSWER_CHARACTERS_MAX) child.kill()
    })
    const timer = setTimeout(() => child.kill(), ANSWER_MS)
    const code = await ended.finally(() => clearTimeout(timer))
    if (code === 0) return JSON.parse(text)
    throw cliError(`kubectl ${args.slice(0, 2).join(' ')}: ${said()}`)
  }

  /** Forwards a free local port to a service. */
  async forward(namespace: string, service: string, port: number): Promise<Forward> {
    const target = [`service/${service}`, `:${port}`, '--address=127.0.0.1', `--namespace=${namespace}`]
    const { child, said, ended } = start(['port-forward', ...target, ...this.#flags])
    const stop = (): void => void child.kill()
    const settle = untilGone(stop)
    void ended.finally(settle).catch(() => undefined)
    const timer = setTimeout(stop, FORWARD_MS)
    try {
      const local = await new Promise<number>((resolve, reject) => {
        let text = ''
        child.stdout.on('data', (chunk: string) => {
          text = `${text}${chunk}`.slice(-4096)
          const [, found] = FORWARDING.exec(text) ?? []
          if (found !== undefined) resolve(Number(found))
        })
        ended.then(() => reject(cliError(`kubectl port-forward: ${said()}`, UNAVAILABLE)), reject)
      })
      return { port: local, close: () => (stop(), ended.then(() => undefined)) }
    } finally {
      clearTimeout(timer)
    }
  }
}

/**
 * Stops what must not outlive the program, at its end or at a signal, which ends the program all the same.
 * @returns forgets it
 */
function untilGone(stop: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    stop()
    settle()
    // Without a listener it does what it would have done.
    process.kill(process.pid, signal)
  }
  const settle = (): void => {
    process.removeListener('exit', stop)
    for (const signal of SIGNALS) process.removeListener(signal, onSignal)
  }
  process.once('exit', stop)
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return settle
}

function start(args: readonly string[]) {
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.setEncoding('utf8')
  child.stderr.setEncoding('utf8')
  let complaint = ''
  child.stderr.on('data', (chunk: string) => (complaint = `${complaint}${chunk}`.slice(-4096)))
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', () => reject(cliError('kubectl cannot be started: it must be on PATH', MISUSED)))
    child.on('close', (code) => resolve(code))
  })
  const said = (): string => complaint.trim().split('\n').at(-1) ?? 'it ended without an error message'
  return { child, ended, said: () => (said() === '' ? 'it ended too soon' : said()) }
}
