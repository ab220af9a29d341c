/** A standalone with a team that has what the pages speak of: queues, dead letters, alerts, an issue, a bulk, a cron. */
import { createHmac } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AlertList, Bulk, IssueList } from '../../../clients/typescript/src/generated/wire.ts'
import { programEnv } from '../servers/processes.ts'
import type { ApiClient } from '../servers/api-client.ts'
import { freePort } from '../servers/redis-server.ts'
import type { StandaloneWorld } from '../servers/standalone-world.ts'
import { until } from '../until.ts'
import { addTool, type PageShell } from './page-shell.ts'

const ROOT = join(import.meta.dirname, '../../..')
const PAGE_MS_MAX = 110_000
/** Of the example of docs/reference/signing.md. */
const SIGNING_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
/** Opens the stand-in for Slack. */
const TEAM_SETTINGS = `apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec: { egress: { allow: [127.0.0.0/8] } }
`
const SIGNED_BODY = '{"order": 12345}'

export interface PageScene {
  /** The script with what is here in place of what the page names, such as the id in an example. */
  adapted(script: string): Promise<string>
  readonly shell: PageShell
  /** As Ctrl-C in the terminal of the standalone; resolves when it has ended. */
  stop(): Promise<void>
}

type Stands = ReadonlyArray<readonly [named: RegExp, here: string]>

/** @param env for the commands of the page, beside what finds the standalone */
export async function openScene(
  world: StandaloneWorld,
  env: Readonly<Record<string, string>> = {},
): Promise<PageScene> {
  const data = world.newFolder()
  const target = await world.newTarget()
  mkdirSync(join(data, 'resources'))
  writeFileSync(join(data, 'resources/team-settings.yaml'), TEAM_SETTINGS)
  const { program, client } = await world.start(data)
  const { url, opsUrl } = await program.logged('Standalone runs')
  for (const path of ['/hooks', '/services']) target.route(path, () => ({ status: 200, body: 'ok' }))
  target.route('/down', () => ({ status: 503 }))
  const folder = world.newFolder()
  furnishFolder(folder, data, target.url)
  const address = new URL(String(url)).host
  const ofTeam = await furnishTeam(client, target.url)
  const stands: Stands = [
    ...ofTeam,
    [
      /127\.0\.0\.1:8080/g,
      env['PUNCTUAL_PORT'] === undefined ? address : `127.0.0.1:${env['PUNCTUAL_PORT']}`,
    ],
    [/127\.0\.0\.1:9090/g, new URL(String(opsUrl)).host],
    [/https:\/\/example\.com/g, target.url],
    [/\b8090\b/g, String(await freePort())],
    [/\bDIR\b/g, join(folder, '.punctual/redis')],
    [/\bCOPY\b/g, join(folder, 'copy')],
  ]
  return {
    adapted: async (script) => {
      // Of each page its own, as a replay takes it away.
      const dead: Stands = script.includes('4711')
        ? [[/\b4711\b/g, String(await newDeadLetter(client, target.url))]]
        : []
      return [...dead, ...stands].reduce((text, [named, here]) => text.replaceAll(named, here), script)
    },
    shell: {
      folder,
      timeoutMs: PAGE_MS_MAX,
      env: {
        ...programEnv(),
        PUNCTUAL_SERVER: `http://${address}`,
        PUNCTUAL_TOKEN: readFileSync(join(data, 'token'), 'utf8').trim(),
        ...signedCall(),
        ...env,
      },
    },
    stop: async () => {
      program.signal('SIGINT')
      await program.exited
    },
  }
}

/** The files and commands that a page takes for granted. */
function furnishFolder(folder: string, data: string, target: string): void {
  symlinkSync(data, join(folder, '.punctual'))
  for (const name of ['charts', 'config', 'dist', 'node_modules'])
    symlinkSync(join(ROOT, name), join(folder, name))
  mkdirSync(join(folder, 'bin'))
  symlinkSync(join(ROOT, 'bin/punctual'), join(folder, 'bin/punctual'))
  // Packages are made in it.
  cpSync(join(ROOT, 'clients'), join(folder, 'clients'), { recursive: true })
  const files = {
    // A refusal by the API fails the page, and nothing else is printed than what was answered.
    '.curlrc': 'fail-with-body\nsilent\nshow-error\n',
    'body.json': SIGNED_BODY,
    'signing-secret': SIGNING_SECRET,
    'job.json': '{"queue": "emails", "url": "http://127.0.0.1:9/", "payload": {}}',
    'jobs.ndjson': '{"queue": "emails", "url": "http://127.0.0.1:9/", "delay": 86400}\n'.repeat(2),
    'slack-url.txt': `${target}/services/T000/B000/XXXX`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  // Somebody sits at the terminal and answers what the command asks with yes.
  addTool(
    folder,
    'punctual',
    `exec 3>&1
if said=$('${ROOT}/bin/punctual' "$@" 2>&1 >&3); then exit 0; else code=$?; fi
case $said in *'add --yes'*) exec '${ROOT}/bin/punctual' "$@" --yes ;; esac
printf '%s\\n' "$said" >&2
exit $code
`,
  )
  addTool(
    folder,
    'make',
    `[ "$*" = run ] || exit 2
export PUNCTUAL_DATA_DIR=$(mktemp -d) PUNCTUAL_PORT=0 PUNCTUAL_OPS_PORT=0
exec '${ROOT}/bin/punctual' standalone
`,
  )
  addTool(
    folder,
    'redis-cli',
    `[ "$1" = -s ] || set -- -s .punctual/redis/redis.sock "$@"
PATH=\${PATH#*:} exec redis-cli "$@"
`,
  )
}

/** A call whose signature can be checked with the command of docs/how-to/develop-locally.md. */
function signedCall(): Record<string, string> {
  const id = '3f0c52a9-71be-8000-8000-000000000040'
  const timestamp = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(SIGNING_SECRET.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${SIGNED_BODY}`).digest('base64')
  return { SIGNING_SECRET, ID: id, TIMESTAMP: timestamp, SIGNATURE: `v1,${mac}` }
}

async function newDeadLetter(client: ApiClient, target: string): Promise<number> {
  const job = { queue: 'payments-capture', url: `${target}/down`, retry_delays: [1] }
  const { job_id: id } = await client.push(job)
  await client.ended(id)
  return id
}

async function furnishTeam(client: ApiClient, target: string): Promise<Stands> {
  const emails = await client.makeQueue('emails', { alerts_enabled: true, retry_delays: [1] })
  await client.makeQueue('12', {})
  const { job_id: failed } = await client.push({
    queue: 'emails',
    url: `${target}/down`,
    tags: { order: '1042' },
  })
  await Promise.all([client.ended(failed), ...[1, 2, 3].map(() => newDeadLetter(client, target))])
  const issue = await until('an issue is open', async () => {
    const { body } = await client.send<IssueList>('GET', '/api/issues')
    return body.issues[0] ?? null
  })
  const { body: alerts } = await client.send<AlertList>('GET', '/api/alerts')
  // One that is broken off, with something left.
  const { body: bulk } = await client.send<Bulk>('POST', '/api/bulk', {
    action: 'replay',
    filter: { queue: 'payments-capture' },
    rate: 1,
  })
  await client.send('POST', `/api/bulk/${bulk.id}/abort`)
  return [
    [/(?<=queues\/|pause |"id": )12\b(?!-)/g, String(emails)],
    [/\b114112620000000\b/g, String(alerts.alerts[0]?.id)],
    [/\b12-9f86d08188\b/g, issue.id],
    [/\b457310208000017\b/g, String(bulk.id)],
    [/\bpunctual-signing-[0-9a-f]{8}:secret\b/g, '$(punctual secrets -o name | tail -1)'],
  ]
}

export function isBuilt(): boolean {
  return existsSync(join(ROOT, 'dist/main.js'))
}
