import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { socketsTo } from '../../support/servers/process-sockets.ts'
import { freePort } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'

const PROGRAM = join(import.meta.dirname, '../../../dist/main.js')
/** More often than connections come and go: an idle one is kept for 30 s. */
const SAMPLE_EVERY_MS = 200
const START_TIMEOUT_MS = 60_000
/** What V8 takes in a pod of 512 MiB, the chart's limit, and what the image gives to new objects. */
const HEAP_OF_A_POD = ['--max-old-space-size=256', '--max-semi-space-size=16']
/** Puts the credentials where a pod has them, for this process alone. */
const AS_POD = `
  account=/run/secrets/kubernetes.io/serviceaccount
  mount -t tmpfs none /run && mkdir -p "$account" && cp "$0"/* "$account" && exec "$@"`

/** The compiled program as the image runs it, watched from outside. */
export interface MeasuredController {
  readonly startedMs: number
  rssMib(): number
  /** Since its start. */
  peakRssMib(): number
  /** Connections to the API server that were ever seen, and the most at once. */
  connections(): { readonly ever: number; readonly atOnce: number }
  /** The sum of the series of this name whose labels contain the text; 0 when there is none. */
  metric(name: string, labels?: string): Promise<number>
  kill(signal: NodeJS.Signals): Promise<void>
}

/** @param account a folder with `token` and `ca.crt` */
export async function startMeasured(
  { url, account }: { readonly url: string; readonly account: string },
  env: Readonly<Record<string, string>>,
): Promise<MeasuredController> {
  const opsPort = await freePort()
  const { hostname, port } = new URL(url)
  const apiServerPort = Number(port)
  const place = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  const { PATH = '' } = process.env
  const startedMs = performance.now()
  const program = ['sh', '-c', AS_POD, account, process.execPath, ...HEAP_OF_A_POD, PROGRAM, 'controller']
  const child = spawn('unshare', ['--map-root-user', '--mount', ...program], {
    env: { PATH, NODE_ENV: 'production', PUNCTUAL_OPS_PORT: String(opsPort), ...place, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const killIt = () => child.kill('SIGKILL')
  process.once('exit', killIt)
  const pid = child.pid ?? 0
  const seen = new Set<string>()
  let atOnce = 0
  const sampling = setInterval(() => {
    const sockets = socketsTo(pid, apiServerPort)
    for (const socket of sockets) seen.add(socket)
    atOnce = Math.max(atOnce, sockets.length)
  }, SAMPLE_EVERY_MS)
  void exited.then(() => {
    clearInterval(sampling)
    process.off('exit', killIt)
  })
  const metrics = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text().catch(() => '')
  await until('the controller answers', () => metrics().catch(() => ''), START_TIMEOUT_MS)
  return {
    startedMs,
    rssMib: () => statusMib(pid, 'VmRSS'),
    peakRssMib: () => statusMib(pid, 'VmHWM'),
    connections: () => ({ ever: seen.size, atOnce }),
    metric: async (name, labels = '') => sumOf(await metrics(), name, labels),
    kill: async (signal) => {
      child.kill(signal)
      await exited
    },
  }
}

/** The sum of the series of this name whose labels contain the text, of a page of metrics. */
export function sumOf(page: string, name: string, labels: string): number {
  const lines = page.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return lines.filter((line) => line.includes(labels)).reduce((sum, line) => sum + valueOf(line), 0)
}

function valueOf(line: string): number {
  return Number(line.slice(line.lastIndexOf(' ') + 1))
}

function statusMib(pid: number, field: string): number {
  const [, kib = '0'] =
    new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1024)
}
