import { startHangingTarget, type HangingTarget } from '../harness/hanging-target.ts'
import { sleep, waitUntil } from '../harness/waiting.ts'
import type { Contender, Stand } from '../contenders/contender.ts'
import { attempt, contendersOf, withStand, type Bench } from './scenario.ts'

const HOLD_WITHIN_MS = 60_000
/** BullMQ looks for stalled jobs every 30 s and wants to see one twice. */
const RECOVER_WITHIN_MS = 120_000
/** After the last one: a job counts as lost only when nothing more comes. */
const GRACE_MS = 1_000

/** kill -9 of the program that holds the calls while another stands by: how long until all have been made again. */
export async function measureRecovery(bench: Bench): Promise<void> {
  bench.say(`recovery after kill -9 with ${bench.sizes.heldJobs} jobs in flight`)
  // They wait most of the time, so they wait together.
  await Promise.all(
    contendersOf(bench, 'recovery').map((contender) =>
      attempt(bench, 'recovery', contender, () =>
        withStand(bench, contender, async (stand) => {
          const hanging = await startHangingTarget(bench.folder, 1)
          try {
            await recover(bench, contender, stand, hanging)
          } finally {
            await hanging.stop()
          }
        }),
      ),
    ),
  )
}

async function recover(
  bench: Bench,
  contender: Contender,
  stand: Stand,
  hanging: HangingTarget,
): Promise<void> {
  const count = bench.sizes.heldJobs
  const work = { concurrency: count, queues: null, keepsHistory: false }
  await stand.startIntake()
  const holder = await stand.startWork(work)
  await stand.fill({ count, queues: null, delaySeconds: 0, targetUrl: `${hanging.origins[0]}/{index}` })
  await waitUntil(`${count} open calls`, async () => (await hanging.state()).open === count, {
    withinMs: HOLD_WITHIN_MS,
  })
  await stand.startWork(work)
  await hanging.release()
  const killedMs = Date.now()
  holder.kill('SIGKILL')
  await waitUntil('every call was made again', async () => (await hanging.state()).answered >= count, {
    withinMs: RECOVER_WITHIN_MS,
    everyMs: 50,
  }).catch(() => undefined)
  await sleep(GRACE_MS)
  const { answered, lastAnsweredMs } = await hanging.state()
  bench.measured.add('lost_jobs', contender.name, count - answered)
  bench.measured.add('recovery_seconds', contender.name, (lastAnsweredMs - killedMs) / 1000)
  bench.notes.push(
    `recovery, ${contender.name}: ${answered} of ${count} made again, at rest afterwards: ${(await stand.isAtRest()) ? 'yes' : 'no'}`,
  )
}
