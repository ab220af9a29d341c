import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../harness/ports.ts'
import { startProgram, untilReady } from '../harness/processes.ts'
import { startRedisServer } from '../harness/redis-server.ts'
import { startTarget } from '../harness/nginx-target.ts'
import { runWrk } from '../harness/wrk.ts'
import type { RunNotes } from '../report/results.ts'
import type { Bench } from './scenario.ts'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, '../ceilings')
const PIPELINE = 64

/** What the parts could do alone: nobody who calls over HTTP out of Redis on this machine can be faster. */
export async function measureCeilings(bench: Bench): Promise<void> {
  bench.say('ceilings')
  bench.facts.ceilings = [
    { name: 'undici `dispatch`, 64 connections', unit: 'calls/s', value: await dispatchRate(bench) },
    { name: '`node:http` answering 201, 64 connections', unit: 'requests/s', value: await serverRate(bench) },
    ...(await redisRates(bench)),
  ]
}

async function dispatchRate(bench: Bench): Promise<number> {
  const target = await startTarget(bench.folder)
  try {
    const seconds = String(bench.sizes.acceptSeconds)
    const { stdout } = await run(
      process.execPath,
      [join(FOLDER, 'raw-dispatch-process.ts'), target.url, seconds],
      {
        timeout: 60_000,
      },
    )
    return Number(stdout)
  } finally {
    await target.stop()
  }
}

async function serverRate(bench: Bench): Promise<number> {
  const port = await freePort()
  const program = startProgram({
    name: 'raw-server',
    command: process.execPath,
    args: [join(FOLDER, 'raw-server-process.ts'), String(port)],
    folder: bench.folder,
  })
  const url = `http://127.0.0.1:${port}/api/jobs`
  try {
    await untilReady(program, () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    )
    const answer = await runWrk({ url, headers: {}, body: 'x'.repeat(152) }, bench.sizes.acceptSeconds)
    return answer.requests / answer.seconds
  } finally {
    await program.stop()
  }
}

async function redisRates(bench: Bench): Promise<RunNotes['ceilings']> {
  const redis = await startRedisServer(bench.folder)
  try {
    const count = bench.sizes.label === 'full' ? 1_000_000 : 200_000
    const { stdout } = await run(
      'redis-benchmark',
      [
        '-h',
        '127.0.0.1',
        '-p',
        String(redis.port),
        '-t',
        'set,lpush,lpop',
        '-d',
        '152',
        '-c',
        '8',
        '-P',
        String(PIPELINE),
        '-n',
        String(count),
        '-r',
        '100000',
        '--csv',
      ],
      { timeout: 120_000 },
    )
    return [...stdout.matchAll(/^"(SET|LPOP)","([\d.]+)"/gm)].map((match) => ({
      name: `Redis ${match[1]}, ${PIPELINE} in a pipeline`,
      unit: 'commands/s',
      value: Number(match[2]),
    }))
  } finally {
    await redis.stop()
  }
}
