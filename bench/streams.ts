/**
 * What open pages cost: `node bench/streams.ts 200` measures the CPU time of an API process over a minute while jobs run,
 * without streams of events and with so many of one team.
 */
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runMain } from './harness/main-run.ts'
import type { Program } from './harness/processes.ts'
import { bearer, type Stand, withStand } from './harness/stand.ts'
import { sleep } from './harness/waiting.ts'

const JOBS_PER_SECOND = 50
const QUEUES = 10
const SECONDS = 60
const [count = '200'] = process.argv.slice(2)

const target = createServer((request, response) => request.resume().once('end', () => response.end()))
await runMain(() => withStand(main))

async function main(stand: Stand): Promise<void> {
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  const { redis } = stand
  const { program: api, url } = await stand.startApi()
  await stand.start('executor')
  const pusher = setInterval(() => void push(url), 1_000 / JOBS_PER_SECOND)
  await sleep(5_000)
  const before = await shareOf(api)
  let events = 0
  const streams = await Promise.all(Array.from({ length: Number(count) }, () => openStream(url)))
  for (const stream of streams)
    stream.on('data', (piece: Buffer) => (events += String(piece).split('event:').length - 1))
  const commands = await redis.commandsProcessed()
  const during = await shareOf(api)
  const perSecond = ((await redis.commandsProcessed()) - commands) / SECONDS
  clearInterval(pusher)
  for (const stream of streams) stream.destroy()
  console.log(`without streams: ${percent(before)} of a core`)
  console.log(`with ${count} streams: ${percent(during)}, so ${percent(during - before)} for the streams`)
  console.log(
    `${Math.round(events / SECONDS)} events a second; Redis ran ${Math.round(perSecond)} commands a second`,
  )
}

async function push(url: string): Promise<void> {
  const { port } = target.address() as AddressInfo
  const queue = `streams-${Math.floor(Math.random() * QUEUES)}`
  const body = JSON.stringify({ queue, url: `http://127.0.0.1:${port}/` })
  await (await fetch(`${url}/api/jobs`, { method: 'POST', headers: bearer(), body })).arrayBuffer()
}

/** A connection of its own, as each tab has one. */
function openStream(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${url}/api/events`, { headers: bearer(), agent: false }, resolve).once('error', reject)
  })
}

/** CPU time of the process over a minute, as a share of a core. */
async function shareOf(program: Program): Promise<number> {
  const [cpu, began] = [program.cpuSeconds(), performance.now()]
  await sleep(SECONDS * 1_000)
  return (program.cpuSeconds() - cpu) / ((performance.now() - began) / 1_000)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
