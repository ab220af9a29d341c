/** Each page of docs/how-to from its first command to its last, in one shell, as somebody would who follows it. */
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { programEnv } from '../../support/servers/processes.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'

const ROOT = join(import.meta.dirname, '../../..')
const MAIN = join(ROOT, 'src/main.ts')
/** A page waits for its jobs at most a minute, and each of its commands starts a process. */
const PAGE_MS_MAX = 110_000

const { newFolder, start, close } = createStandaloneWorld()
afterAll(close)

let shell: (script: string) => Promise<{ stdout: string; stderr: string }>
let address: string

beforeAll(async () => {
  const folder = newFolder()
  const { program } = await start(folder)
  address = String((await program.logged('Standalone runs'))['url']).replace('http://', '')
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'punctual'), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o755 })
  const env = {
    ...programEnv(),
    PATH: `${bin}:${process.env['PATH']}`,
    PUNCTUAL_SERVER: `http://${address}`,
    PUNCTUAL_TOKEN: readFileSync(join(folder, 'token'), 'utf8').trim(),
  }
  shell = (script) =>
    promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', script], { env, timeout: PAGE_MS_MAX })
})

/** Blocks that need what a test does not have, such as a second terminal, are marked `no-run`. */
function scriptOf(page: string): string {
  const blocks = page.matchAll(/^```sh\n(.*?)^```/gms)
  return Array.from(blocks, ([, text = '']) => text)
    .join('\n')
    .replaceAll('127.0.0.1:8080', address)
}

/** What a reader would see of some pages, if all is well. */
const SEEN: Readonly<Record<string, readonly RegExp[]>> = {
  'send-webhooks.md': [/whsec_/, /signed_up|order/],
  'run-a-nightly-report.md': [/Europe\/Berlin/, /sales-report/],
  'respect-a-rate-limit.md': [/10\/s/],
  'find-out-why-a-job-waits.md': [/paused/, /an example/],
  'recover-from-an-outage.md': [/503/, /replay/],
  'develop-locally.md': [/"run_at"/],
}

test.for(globSync('*.md', { cwd: join(ROOT, 'docs/how-to') }))('%s works as written', async (name) => {
  const script = scriptOf(readFileSync(join(ROOT, 'docs/how-to', name), 'utf8'))
  const { stdout } = await shell(script)
  for (const seen of SEEN[name] ?? []) expect(stdout).toMatch(seen)
})
