import { mkdtempSync, readFileSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import type { CountSample } from '../report/statistics.ts'
import { freePort } from './ports.ts'
import { startProgram, untilReady } from './processes.ts'
import { sleep, waitUntil } from './waiting.ts'

const SAMPLE_EVERY_MS = 25
/** Nothing more arrived for this long: the run is over. */
const STILL_MS = 500

/** The target of every contender's calls: nginx that answers 200 at once and counts. */
export interface Target {
  readonly url: string
  /** Calls answered so far. */
  count(): Promise<number>
  /** Samples the count until `total` calls have come since `from` and no more follow. */
  watch(from: number, total: number, withinMs: number): Promise<CountSample[]>
  /** Due times (query parameter, or in Quirrel's header) with the arrival's, in Unix ms, since the last call. */
  takeArrivals(): Promise<Array<{ readonly dueMs: number; readonly arrivedMs: number }>>
  stop(): Promise<void>
}

export async function startTarget(folder: string): Promise<Target> {
  const port = await freePort()
  // Another target may have had the port before.
  const home = mkdtempSync(join(folder, `nginx-${port}-`))
  const logPath = join(home, 'arrivals.log')
  const configPath = join(home, 'nginx.conf')
  writeFileSync(configPath, nginxConfig(home, logPath, port))
  const program = startProgram({
    name: 'nginx',
    command: 'nginx',
    args: ['-p', home, '-c', configPath, '-e', join(home, 'error.log')],
    folder,
  })
  const origin = `http://127.0.0.1:${port}`
  let polls = 0
  const count = async (): Promise<number> => {
    const { body } = await request(`${origin}/counts`)
    polls += 1
    // Line 3: connections accepted, handled, requests; the requests include these polls.
    const requests = Number(/^\s*\d+\s+\d+\s+(\d+)/m.exec(await body.text())?.[1])
    return requests - polls
  }
  await untilReady(program, () => isUp(count))
  let read = 0
  return {
    url: `${origin}/call`,
    count,
    watch: (from, total, withinMs) => watch(count, { from, total, withinMs }),
    takeArrivals: async () => {
      await sleep(STILL_MS)
      if (!existsSync(logPath)) return []
      const lines = readFileSync(logPath, 'utf8').slice(read)
      read += lines.length
      return parseArrivals(lines)
    },
    stop: () => program.stop(),
  }
}

async function isUp(count: () => Promise<number>): Promise<boolean> {
  try {
    await count()
    return true
  } catch {
    return false
  }
}

async function watch(
  count: () => Promise<number>,
  { from, total, withinMs }: { from: number; total: number; withinMs: number },
): Promise<CountSample[]> {
  const samples: CountSample[] = []
  let lastChangeMs = performance.now()
  await waitUntil(
    `${total} calls at the target`,
    async () => {
      const seen = (await count()) - from
      const atMs = performance.now()
      if (seen !== samples.at(-1)?.count) {
        samples.push({ atMs, count: seen })
        lastChangeMs = atMs
      }
      return seen >= total && atMs - lastChangeMs > STILL_MS
    },
    { withinMs, everyMs: SAMPLE_EVERY_MS },
  )
  return samples
}

/** Lines of the arrival's `seconds.milliseconds` and a text that holds the due time as 13 digits. */
export function parseArrivals(lines: string): Array<{ dueMs: number; arrivedMs: number }> {
  return lines.split('\n').flatMap((line) => {
    const match = /^(\d+\.\d{3}) .*?(\d{13})/.exec(line)
    return match === null ? [] : [{ dueMs: Number(match[2]), arrivedMs: Math.round(Number(match[1]) * 1000) }]
  })
}

/** `$msec` is the time of the turn that read the request: the arrival, by this machine's clock, as Redis's TIME is. */
function nginxConfig(home: string, logPath: string, port: number): string {
  return `daemon off;
master_process off;
pid ${home}/nginx.pid;
error_log ${home}/error.log crit;
worker_rlimit_nofile 20000;
events { worker_connections 16384; }
http {
  access_log off;
  keepalive_timeout 65s;
  keepalive_requests 1000000000;
  client_body_temp_path ${home}/body;
  proxy_temp_path ${home}/proxy;
  fastcgi_temp_path ${home}/fastcgi;
  uwsgi_temp_path ${home}/uwsgi;
  scgi_temp_path ${home}/scgi;
  log_format arrival '$msec $arg_due$http_x_quirrel_meta';
  server {
    listen 127.0.0.1:${port} backlog=8192;
    location = /counts { stub_status; }
    location = /call { return 200; }
    location = /due { access_log ${logPath} arrival buffer=64k flush=100ms; return 200; }
  }
}
`
}
