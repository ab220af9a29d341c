/** The programs of docs/how-to/push-from-your-code.md, run as written. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { isInstalled } from '../../support/tools.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/how-to/push-from-your-code.md'), 'utf8')
/** The first compilation by Go compiles its library. */
const COMPILE_MS = 300_000

interface Language {
  readonly name: string
  readonly file: string
  readonly needs: string
  readonly command: (file: string) => readonly string[]
  readonly compile?: readonly string[]
}

const LANGUAGES: readonly Language[] = [
  { name: 'sh', file: 'push.sh', needs: 'curl', command: (file) => ['bash', '-eu', file] },
  { name: 'js', file: 'push.mjs', needs: 'node', command: (file) => [process.execPath, file] },
  { name: 'python', file: 'push.py', needs: 'python3', command: (file) => ['python3', file] },
  {
    name: 'go',
    file: 'push.go',
    needs: 'go',
    compile: ['go', 'build', '-o', 'push', 'push.go'],
    command: () => ['./push'],
  },
]

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const CREATED: Answer = { status: 201, body: '{"success":true,"queue_id":1,"job_id":7}' }
const BUSY: Answer = { status: 503, body: '{"error":"busy"}', headers: { 'retry-after': '0' } }

const { newFolder, start, close } = createStandaloneWorld()
let folder = ''
let url = ''
let token = ''
let server: Server
let answers: Answer[] = []
let received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-push-'))
  const data = newFolder()
  const { program } = await start(data)
  url = String((await program.logged('Standalone runs'))['url'])
  token = readFileSync(join(data, 'token'), 'utf8').trim()
})
beforeEach(async () => {
  received = []
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      received.push({ headers: request.headers, body })
      const { status, headers, body: text } = answers.shift() ?? CREATED
      response.writeHead(status, headers).end(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await close()
})

function keyOf(language: string): string {
  return `welcome-${language}`
}

/** Runs the program against an address; answers what it printed, or how it failed. */
async function push({ name, file, command, compile }: Language, address: string, secret: string) {
  const code = new RegExp(`\n\`\`\`${name}\n(.*?)\`\`\`\n`, 's').exec(PAGE)?.[1] ?? ''
  const own = mkdtempSync(join(folder, `${name}-`))
  // The payloads are not the same bytes, so the same key would be refused.
  writeFileSync(join(own, file), code.replaceAll('welcome-42', keyOf(name)))
  const run = promisify(execFile)
  const [compiler, ...args] = compile ?? []
  if (compiler !== undefined) await run(compiler, args, { cwd: own })
  const [program = '', ...given] = command(file)
  const env = { ...process.env, PUNCTUAL_SERVER: address, PUNCTUAL_TOKEN: secret }
  return run(program, given, { cwd: own, env }).then(
    ({ stdout }) => ({ isDone: true, said: stdout }),
    (failure: unknown) => {
      const { stdout, stderr } = failure as { readonly stdout: string; readonly stderr: string }
      return { isDone: false, said: stdout + stderr }
    },
  )
}

/** What curl prints is the answer, what others print the id in it. */
function idIn(said: string): number {
  return Number(/"job_id":(\d+)/.exec(said)?.[1] ?? said)
}

const rows = LANGUAGES.map((language) => [language.name, language] as const)
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

describe('a push by', () => {
  test.for(rows)(
    '%s makes one job, however often',
    { timeout: COMPILE_MS },
    async ([, language], { skip }) => {
      skip(!isInstalled(language.needs), `no ${language.needs} on this machine`)
      const first = await push(language, url, token)
      const second = await push(language, url, token)
      expect([first.isDone, second.isDone]).toEqual([true, true])
      expect(idIn(second.said)).toBe(idIn(first.said))
      const answer = await fetch(`${url}/api/jobs/${idIn(first.said)}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(await answer.json()).toMatchObject({ payload: { to: 'ada' } })
    },
  )

  test.for(rows)(
    '%s waits when it is told to, with the same key',
    { timeout: COMPILE_MS },
    async ([, language], { skip }) => {
      skip(!isInstalled(language.needs), `no ${language.needs} on this machine`)
      answers = [BUSY, { ...BUSY, status: 429 }, CREATED]
      const { said } = await push(language, address(), 'secret')
      expect(said).toMatch(/(?:^|"job_id":)7\b/m)
      expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual(
        Array(3).fill(keyOf(language.name)),
      )
      expect(received.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer secret'))
      expect(new Set(received.map(({ body }) => JSON.stringify(JSON.parse(body)))).size).toBe(1)
    },
  )

  test.for(rows)(
    '%s fails with what the API says',
    { timeout: COMPILE_MS },
    async ([, language], { skip }) => {
      skip(!isInstalled(language.needs), `no ${language.needs} on this machine`)
      answers = [{ status: 422, body: '{"errors":{"url":["is required"]}}' }]
      const { isDone, said } = await push(language, address(), 'secret')
      expect({ isDone, count: received.length }).toEqual({ isDone: false, count: 1 })
      expect(said).toContain('{"errors":{"url":["is required"]}}')
    },
  )

  test('every language of the page is run', () => {
    expect([...PAGE.matchAll(/^```(\w+)$/gm)].map(([, name]) => name)).toEqual(
      LANGUAGES.map(({ name }) => name),
    )
  })
})
