import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { heedStopSignals, type StopSignal } from '../../../../src/roles/startup/stop-signals.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

function heeding() {
  const source = new EventEmitter()
  const clock = createFakeClock()
  const heard: string[] = []
  heedStopSignals(source, clock, {
    stop: (signal) => heard.push(`stop ${signal}`),
    force: (signal) => heard.push(`force ${signal}`),
  })
  return { clock, heard, send: (signal: StopSignal) => source.emit(signal, signal) }
}

test('signals within two seconds of the first are one wish, whichever they are', async () => {
  const { clock, heard, send } = heeding()
  send('SIGTERM')
  send('SIGTERM')
  await clock.advance(1_999)
  send('SIGINT')
  expect(heard).toEqual(['stop SIGTERM'])
})

test('a later one forces the end, once', async () => {
  const { clock, heard, send } = heeding()
  send('SIGINT')
  // What is repeated without end does not put the force off: the first one counts.
  await clock.advance(1_500)
  send('SIGINT')
  await clock.advance(500)
  send('SIGTERM')
  send('SIGTERM')
  await clock.advance(60_000)
  send('SIGINT')
  expect(heard).toEqual(['stop SIGINT', 'force SIGTERM'])
})
