/**
 * The README followed on a real cluster: the commands under "On Kubernetes" as written, but for the namespace (the one
 * whose pods must pass `restricted`), the tag of the image that was loaded, and a port that is free.
 */
import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import type { ScheduledJob } from '../../../clients/typescript/src/generated/wire.ts'
import { RELEASE_NAMESPACE, runCommand } from '../../support/cluster/kind-cluster.ts'
import { freePort } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { openInstalled } from '../support/open-release.ts'
import { isInstalled, uninstallRelease } from '../support/release.ts'

const ROOT = join(import.meta.dirname, '../../..')
const COMMANDS_TIMEOUT_MS = 240_000
const FORWARDING_TIMEOUT_MS = 30_000
const ATTEMPT_TIMEOUT_MS = 60_000
const COUNTS_TIMEOUT_MS = 60_000
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const [, SECTION = ''] = /^## On Kubernetes$(.*?)^## /ms.exec(README) ?? []

const access = inject('kindAccess').releases

function blocks(language: string): string[] {
  return [...SECTION.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text = '']) => text,
  )
}

function adapted(command: string, port: number): string {
  return command
    .replaceAll(/(--namespace) punctual(?=\s)/g, `$1 ${RELEASE_NAMESPACE}`)
    .replaceAll('helm install punctual charts/punctual', '$& --set image.tag=e2e,redis.bundled.image.tag=7.2')
    .replaceAll(/\b8081\b/g, String(port))
}

/** The heading and the line of the queue or the cron, without its age. */
function shownColumns(table: string): string[][] {
  const lines = table.split('\n').filter((line) => /^(?:NAME|one-at-a-time|nightly-report) /.test(line))
  return lines.map((line) => line.split(/ +/).slice(0, -1))
}

const surroundings = () => ({ cwd: ROOT, env: { ...process.env, KUBECONFIG: access.kubeconfig } })

async function shell(text: string): Promise<string> {
  const limits = { timeout: COMMANDS_TIMEOUT_MS, killSignal: 'SIGKILL' } as const
  return (
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', text], { ...surroundings(), ...limits })
  ).stdout
}

/** Runs until it is stopped, as in a terminal of its own. */
async function forward(command: string): Promise<{ stop(): Promise<void> }> {
  let said = ''
  const running = spawn('bash', ['-c', `exec ${command}`], surroundings())
  const exited = new Promise<void>((resolve) => running.once('exit', () => resolve()))
  for (const stream of [running.stdout, running.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  }
  const stop = async () => {
    running.kill('SIGTERM')
    await exited
  }
  try {
    await until(`${command} forwards`, () => said.includes('Forwarding from'), FORWARDING_TIMEOUT_MS)
  } catch (fault) {
    await stop()
    throw new Error(said, { cause: fault })
  }
  return { stop }
}

/** Nothing of former scenarios stands in the way of a first install; only a controller lets resources go. */
async function makeRoom(): Promise<void> {
  const place = { kubeconfig: access.kubeconfig, namespace: RELEASE_NAMESPACE }
  if (!(await isInstalled(place))) return
  const where = ['--kubeconfig', access.kubeconfig, '--namespace', RELEASE_NAMESPACE]
  const former = ['hq/one-at-a-time', 'hc/nightly-report', '--ignore-not-found']
  await runCommand('kubectl', [...where, 'delete', ...former])
  await uninstallRelease(place)
}

export function readme(): void {
  beforeAll(makeRoom)

  test('has commands that install, make a queue and a cron, and push', async () => {
    const port = await freePort()
    const [install = '', portForward = '', push = '', look = '', cron = '', ...others] = blocks('sh').map(
      (command) => adapted(command, port),
    )
    expect(others).toEqual([])
    const [queueTable = '', cronTable = ''] = blocks('text')

    expect(await shell(install)).toMatch(/\nhttpqueue\S*\/one-at-a-time created\n.* condition met\n$/)

    const cluster = await openInstalled(access, RELEASE_NAMESPACE)
    onTestFinished(() => cluster.close())
    const forwarding = await forward(portForward)
    try {
      const { job_id: id } = JSON.parse(await shell(push)) as ScheduledJob
      // Whether the Internet can be reached is the machine's affair; that an executor tried is ours.
      await cluster.punctual.jobThat(id, 'was tried', (job) => job.calls.length > 0, ATTEMPT_TIMEOUT_MS)
    } finally {
      await forwarding.stop()
    }
    // Counts are written once in a while; a job that waits for its retry is in none of them.
    await expect
      .poll(async () => shownColumns(await shell(look)), { timeout: COUNTS_TIMEOUT_MS })
      .toEqual(shownColumns(queueTable))

    const said = await shell(cron)

    expect(said).toMatch(/^httpcron\S*\/nightly-report created\n.* condition met\n/)
    expect(shownColumns(said)).toEqual(shownColumns(cronTable))
  })
}
