/** A real Prometheus with promtool: those on PATH, or those that scripts/prometheus.sh builds. */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { freePort } from '../servers/redis-server.ts'
import { toolObstacle, toolPath } from '../tools.ts'
import { until } from '../until.ts'

const FIND = 'prometheus.sh'
/** Two seconds of one core; many times that beside builds that take them all. */
const COMMAND_TIMEOUT_MS = 150_000
const READY_TIMEOUT_MS = 60_000

/** Why there is none; null when there is. The first call may build it, which takes minutes. */
export function prometheusObstacle(): string | null {
  return toolObstacle(FIND)
}

/** Runs promtool on files of these contents, by name, and answers what it printed, whether it was pleased or not. */
export async function promtool(
  given: readonly string[],
  files: Readonly<Record<string, object>>,
): Promise<{ readonly isPleased: boolean; readonly output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-promtool-'))
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), stringify(content))
    return await new Promise((resolve) => {
      const options = { cwd: folder, timeout: COMMAND_TIMEOUT_MS }
      execFile(join(toolPath(FIND), 'promtool'), [...given], options, (error, stdout, stderr) => {
        const killed = error?.killed === true ? `\npromtool was killed after ${COMMAND_TIMEOUT_MS} ms` : ''
        resolve({ isPleased: error === null, output: `${stdout}${stderr}${killed}` })
      })
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export interface Target {
  readonly address: string
  readonly labels: Readonly<Record<string, string>>
}

export interface PrometheusServer {
  /** The samples of an instant query; throws with what Prometheus says is wrong with it. */
  query(expression: string): Promise<readonly object[]>
  stop(): Promise<void>
}

/** Starts a Prometheus that scrapes these targets every half second. */
export async function startPrometheus(targets: readonly Target[]): Promise<PrometheusServer> {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-prometheus-'))
  const port = await freePort()
  const config = {
    global: { scrape_interval: '500ms', scrape_timeout: '500ms' },
    scrape_configs: [
      {
        job_name: 'test',
        static_configs: targets.map(({ address, labels }) => ({ targets: [address], labels })),
      },
    ],
  }
  writeFileSync(join(folder, 'prometheus.yml'), stringify(config))
  const child = spawn(
    join(toolPath(FIND), 'prometheus'),
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let errors = ''
  child.stderr.on('data', (text: Buffer) => {
    errors = (errors + text.toString()).slice(-4000)
  })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(
    'Prometheus is ready',
    async () => {
      if (child.exitCode !== null) throw new Error(`Prometheus ended: ${errors}`)
      return isReady()
    },
    READY_TIMEOUT_MS,
  )
  return { query: (expression) => queryAt(url, expression), stop }
}

async function queryAt(url: string, expression: string): Promise<readonly object[]> {
  const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`)
  const body = (await answer.json()) as { data?: { result: object[] }; error?: string }
  if (body.data === undefined) throw new Error(`${expression}: ${body.error ?? answer.status}`)
  return body.data.result
}
