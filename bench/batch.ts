/**
 * Batch push: jobs a second of `POST /api/jobs/batch`, beside single pushes to the same API and beside BullMQ's `addBulk`
 * behind the same request, in turns on one machine. `make build && node bench/batch.ts [seconds] [rounds] [jobs a batch]`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bullmqAddBulk } from './contenders/bullmq.ts'
import { redisOf, type Contender } from './contenders/contender.ts'
import { punctual } from './contenders/punctual.ts'
import { killAllPrograms } from './harness/processes.ts'
import { installPeers, requirePrograms } from './harness/requirements.ts'
import { runWrk, type HttpLoad } from './harness/wrk.ts'

const say = (text: string): void => console.error(text)
/** Never due while it is measured. */
const DELAY_SECONDS = 3_600
const TARGET = 'http://127.0.0.1:9/'

const [seconds = 4, rounds = 3, jobs = 100] = process.argv.slice(2).map(Number)
requirePrograms(say)
installPeers(say)
const folder = mkdtempSync(join(tmpdir(), 'punctual-batch-'))
const rates = new Map<string, number[]>()
try {
  for (let round = 1; round <= rounds; round += 1) {
    await measure('single pushes', punctual, (load) => ({ load, jobs: 1 }))
    await measure('batch', punctual, batchOf)
    await measure('bullmq addBulk', bullmqAddBulk, batchOf)
  }
  const best = (name: string): number => Math.max(...(rates.get(name) ?? [0]))
  const [single, batch, peer] = [...rates.keys()].map(best) as [number, number, number]
  console.log(JSON.stringify(Object.fromEntries(rates)))
  console.log(
    `${jobs} jobs a batch, best of ${rounds}: single ${single}/s, batch ${batch}/s, addBulk ${peer}/s`,
  )
  console.log(`batch is ${(batch / single).toFixed(1)} × single and ${(batch / peer).toFixed(1)} × addBulk`)
} finally {
  killAllPrograms()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

function batchOf({ url, headers, body }: HttpLoad): { load: HttpLoad; jobs: number } {
  const all = Array.from({ length: jobs }, () => body).join(',')
  return { load: { url: `${url}/batch`, headers, body: `{"jobs":[${all}]}` }, jobs }
}

async function measure(
  name: string,
  contender: Contender,
  loadOf: (load: HttpLoad) => { load: HttpLoad; jobs: number },
): Promise<void> {
  const stand = await contender.open(folder)
  const redis = redisOf(stand)
  try {
    await stand.startIntake()
    const { load, jobs: each } = loadOf(stand.load(TARGET, DELAY_SECONDS))
    await runWrk(load, 1)
    const before = { own: stand.cpuSeconds(), redis: await redis.cpuSeconds() }
    const answer = await runWrk(load, seconds)
    if (answer.errors > 0) throw new Error(`${answer.errors} of ${answer.requests} requests were refused`)
    const rate = Math.round((answer.requests * each) / answer.seconds)
    rates.set(name, [...(rates.get(name) ?? []), rate])
    const micros = (cpuSeconds: number): string => ((cpuSeconds * 1e6) / (answer.requests * each)).toFixed(1)
    const [own, ofRedis] = [stand.cpuSeconds() - before.own, (await redis.cpuSeconds()) - before.redis]
    say(`${name}: ${rate} jobs/s; CPU of a job: ${micros(own)} µs, and ${micros(ofRedis)} µs of Redis`)
  } finally {
    await stand.close()
  }
}
