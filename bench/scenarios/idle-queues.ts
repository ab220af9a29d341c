import { redisOf, type Contender, type Stand } from '../contenders/contender.ts'
import { sleep } from '../harness/waiting.ts'
import { PUNCTUAL } from '../report/figures.ts'
import { attempt, concurrencyOf, contendersOf, withStand, type Bench } from './scenario.ts'

/** A little after the programs' own start. */
const SETTLE_MS = 2_000
/** Nothing is left of what made the queues. */
const EMPTIED_MS = 8_000

/** What queues without jobs cost: commands a second beyond those without any queue, and bytes. */
export async function measureIdleQueues(bench: Bench): Promise<void> {
  bench.say(`${bench.sizes.idleQueues} idle queues`)
  for (const contender of contendersOf(bench, 'idle')) {
    await attempt(bench, 'idle queues', contender, () =>
      withStand(bench, contender, (stand) =>
        contender.name === PUNCTUAL ? ownIdle(bench, contender, stand) : peerIdle(bench, contender, stand),
      ),
    )
  }
}

async function ownIdle(bench: Bench, contender: Contender, stand: Stand): Promise<void> {
  const { idleQueues, idleSeconds } = bench.sizes
  await stand.startIntake()
  await stand.startWork({ concurrency: concurrencyOf(bench, contender), queues: null, keepsHistory: false })
  await sleep(SETTLE_MS)
  const without = await commandsPerSecond(stand, idleSeconds)
  const bytesBefore = await redisOf(stand).dataBytes()
  await stand.makeIdleQueues(idleQueues)
  await sleep(EMPTIED_MS)
  const bytes = (await redisOf(stand).dataBytes()) - bytesBefore
  const withQueues = await commandsPerSecond(stand, idleSeconds)
  bench.measured.add('idle_commands_per_second', contender.name, Math.max(0, withQueues - without))
  bench.measured.add('idle_bytes_per_queue', contender.name, bytes / idleQueues)
  bench.notes.push(
    `commands a second of an api and an executor at rest: ${without.toFixed(1)} without queues, ${withQueues.toFixed(1)} with ${idleQueues}`,
  )
}

async function peerIdle(bench: Bench, contender: Contender, stand: Stand): Promise<void> {
  const { idleQueues, peerIdleQueues, idleSeconds } = bench.sizes
  const without = await commandsPerSecond(stand, idleSeconds)
  const bytesBefore = await redisOf(stand).dataBytes()
  await stand.makeIdleQueues(peerIdleQueues)
  const bytes = (await redisOf(stand).dataBytes()) - bytesBefore
  await stand.startWork({ concurrency: 1, queues: peerIdleQueues, keepsHistory: false })
  await sleep(SETTLE_MS)
  const withQueues = await commandsPerSecond(stand, idleSeconds)
  const scale = idleQueues / peerIdleQueues
  bench.measured.add('idle_commands_per_second', contender.name, (withQueues - without) * scale)
  bench.measured.add('idle_bytes_per_queue', contender.name, bytes / peerIdleQueues)
  bench.notes.push(
    `${contender.name}: idle commands measured on ${peerIdleQueues} queues and multiplied by ${scale}; the bytes leave out its connection to Redis per queue and worker process`,
  )
}

async function commandsPerSecond(stand: Stand, seconds: number): Promise<number> {
  const before = await redisOf(stand).commandsProcessed()
  await sleep(seconds * 1000)
  // One of them is our own INFO.
  return ((await redisOf(stand).commandsProcessed()) - before - 1) / seconds
}
