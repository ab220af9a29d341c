/** Each page of docs/how-to from its first command to its last, in one shell, as somebody would who follows it. */
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { programEnv } from '../../support/servers/processes.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** What the commands run: it starts in a quarter of the time that the sources take. */
const BUILT = join(ROOT, 'dist/main.js')
/** A page waits for its jobs at most a minute, and each of its commands starts a process. */
const PAGE_MS_MAX = 110_000

const { newFolder, start, close } = createStandaloneWorld()
afterAll(close)

type Shell = (page: string) => Promise<string>
let shell: Shell
/** Of an installation whose time can be moved. */
let shellOfTests: Shell

beforeAll(async () => {
  shell = await openShell()
  shellOfTests = await openShell({ PUNCTUAL_TEST_CLOCK: '1' })
})

async function openShell(settings: Record<string, string> = {}): Promise<Shell> {
  const folder = newFolder()
  const { program } = await start(folder, settings)
  const address = String((await program.logged('Standalone runs'))['url']).replace('http://', '')
  const env = {
    ...programEnv(),
    PATH: `${join(ROOT, 'bin')}:${process.env['PATH']}`,
    PUNCTUAL_SERVER: `http://${address}`,
    PUNCTUAL_TOKEN: readFileSync(join(folder, 'token'), 'utf8').trim(),
  }
  return async (page) => {
    const script = scriptOf(page).replaceAll('127.0.0.1:8080', address)
    const args = ['--norc', '-euo', 'pipefail', '-c', script]
    return (await promisify(execFile)('bash', args, { env, timeout: PAGE_MS_MAX })).stdout
  }
}

/** Blocks that need what a test does not have, such as a second terminal, are marked `no-run`. */
function scriptOf(page: string): string {
  const blocks = page.matchAll(/^```sh\n(.*?)^```/gms)
  return Array.from(blocks, ([, text = '']) => text).join('\n')
}

/** What a reader would see of some pages, if all is well. */
const SEEN: Readonly<Record<string, readonly RegExp[]>> = {
  'send-webhooks.md': [/at most 4 at a time/, /whsec_/, /^\d+ +webhooks-acme /m],
  'run-a-nightly-report.md': [/Europe\/Berlin/, /sales-report/],
  'respect-a-rate-limit.md': [/10\/s/],
  'find-out-why-a-job-waits.md': [/paused/, /an example/],
  'recover-from-an-outage.md': [/503/, /replay/],
  'develop-locally.md': [/"run_at"/],
  'follow-a-job-in-your-traces.md': [/^trace [0-9a-f]{32}$/m],
  'tests-with-the-clock.md': [/"ahead_seconds":3600/],
}

test.for(globSync('*.md', { cwd: join(ROOT, 'docs/how-to') }))(
  '%s works as written',
  async (name, { skip }) => {
    skip(!existsSync(BUILT), 'nothing is built: make build')
    const page = readFileSync(join(ROOT, 'docs/how-to', name), 'utf8')
    const stdout = await (name === 'tests-with-the-clock.md' ? shellOfTests : shell)(page)
    for (const seen of SEEN[name] ?? []) expect(stdout).toMatch(seen)
  },
)
