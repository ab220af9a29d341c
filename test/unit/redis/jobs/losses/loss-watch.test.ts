import { expect, test } from 'vitest'
import type { Engine } from '../../../../../src/redis/base/engine/engine.ts'
import { AcceptedSteps } from '../../../../../src/redis/jobs/losses/accepted-steps.ts'
import { LossWatch } from '../../../../../src/redis/jobs/losses/loss-watch.ts'

test('answers that tell of a loss all the time do not put off the look at it', async () => {
  const timers: Array<{ readonly ms: number; readonly run: () => void; isOn: boolean }> = []
  const after = (ms: number, run: () => void) => {
    const timer = { ms, run, isOn: true }
    timers.push(timer)
    return () => {
      timer.isOn = false
    }
  }
  const steps = new AcceptedSteps(1)
  const lost = { from: 0, to: 4 }
  const tell = (step: number) => steps.note(0, { step, atMs: 0, accepted: [], lost })
  const watch = new LossWatch({ engine: { shards: [] } as unknown as Engine, steps, clock: { after } })
  const waiting = () => timers.filter(({ isOn }) => isOn).map(({ ms }) => ms)
  watch.start()
  tell(5)
  const [gathering] = timers.slice(-1)
  for (let step = 6; step < 50; step += 1) tell(step)
  expect(timers.slice(-1)).toEqual([gathering])
  expect(waiting()).toEqual([500])
  gathering?.run()
  await expect.poll(waiting).toContain(5_000)
  tell(50)
  expect(waiting()).toContain(500)
  watch.stop()
})
