/** The README followed to the letter: a fresh clone, an empty npm cache, its own commands, its own answers. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freePort } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'

const ROOT = join(import.meta.dirname, '../../..')
const INSTALL_MS_MAX = 480_000
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** The fenced blocks of one language, in order. */
function blocks(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text = '']) => text,
  )
}

/** A newcomer's environment: nothing of this checkout, nothing kept from another install. */
function freshEnvironment(cache: string, ports: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const foreign =
    /^(?:PUNCTUAL_|VITEST|MAKE|MFLAGS$|NODE_ENV$|NODE_OPTIONS$|NODE_COMPILE_CACHE$|TEST_WORKER|npm_lifecycle)/
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name))
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !entry.endsWith('node_modules/.bin'))
    .join(delimiter)
  return { ...Object.fromEntries(kept), PATH: path, npm_config_cache: cache, ...ports }
}

/** What differs from run to run. */
function withoutChance(screen: string): string {
  return screen
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080')
    .replaceAll(/pk_[^\s]+/g, 'pk_…')
    .replaceAll(/code=[\w-]+/g, 'code=…')
    .replaceAll(/in \d+ ms/g, 'in 5 ms')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

test(
  'its commands run as written and answer as it shows',
  { timeout: INSTALL_MS_MAX + 60_000 },
  async (context) => {
    try {
      execFileSync('npm', ['ping'], { stdio: 'ignore', timeout: 20_000 })
    } catch {
      context.skip('no npm registry can be reached')
    }
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'punctual-readme-')))
    const folder = join(home, 'punctual')
    execFileSync('git', ['clone', '--quiet', ROOT, folder])
    const [port, opsPort] = [await freePort(), await freePort()]
    const env = freshEnvironment(join(home, 'cache'), {
      PUNCTUAL_PORT: String(port),
      PUNCTUAL_OPS_PORT: String(opsPort),
    })
    const [start = '', push = '', read = '', show = '', cron = ''] = blocks('sh')
    expect(start).toMatch(/^make run .*\nmake test /)
    const shell = async (command: string) => {
      const text = command.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
      return (await promisify(execFile)('bash', ['-c', text], { cwd: folder, env })).stdout
    }

    let said = ''
    const running = spawn('make', ['run'], { cwd: folder, env })
    const exited = new Promise((resolve) => running.once('exit', (code) => resolve(code)))
    for (const stream of [running.stdout, running.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    }
    try {
      await until(
        'the first job has ended',
        () => said.includes('attempt 3: completed') || running.exitCode !== null,
        INSTALL_MS_MAX,
      ).catch((error: unknown) => expect.fail(`${String(error)}; it said ${said}`))
      const screen = withoutChance(said)
      for (const line of withoutChance(blocks('text')[0] ?? '').split('\n')) expect(screen).toContain(line)

      const { scheduled_at: at, ...pushed } = JSON.parse(await shell(push)) as Record<string, unknown>
      expect({ ...pushed, scheduled_at: at }).toEqual({
        ...(JSON.parse(blocks('json')[0] ?? '') as object),
        scheduled_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
      })
      const chain = await until('the chain has ended', async () => {
        const job = JSON.parse(await shell(read)) as {
          final_status: string
          chain: Array<Record<string, unknown>>
        }
        return job.final_status === 'success' && job.chain
      })
      const rows = [...README.matchAll(/^\| (\d+) +\| (\d) +\| `(\w+)` +\| (\d+) +\| `(\w+)`/gm)]
      expect(
        chain.map((job) =>
          ['job_id', 'attempt_number', 'status', 'response_status', 'final_status'].map((name) =>
            String(job[name]),
          ),
        ),
      ).toEqual(rows.map((row) => row.slice(1)))

      expect(await shell(show)).toMatch(/^job 32769 .*\n/)
      expect(await shell(cron)).toMatch(/^cron \d+, next run at \S+:00\.000\+00:00\n$/)

      const { pid } = JSON.parse(readFileSync(join(folder, '.punctual', 'lock.json'), 'utf8')) as {
        pid: number
      }
      process.kill(pid, 'SIGINT')
      expect(await exited).toBe(0)
    } finally {
      running.kill('SIGTERM')
      rmSync(home, { recursive: true, force: true })
    }
  },
)
