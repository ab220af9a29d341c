/**
 * What the copy of many crons takes of a controller's memory, and a relist of it: `npm run measure:relist`, or
 * `npm run measure:relist -- <crons> <characters of a payload>`. The heap is that of a pod of 512 MiB.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { HTTP_CRONS } from '../../../src/kubernetes/resources/own-kinds.ts'
import { SharedInformer } from '../../../src/kubernetes/informer/shared-informer.ts'
import { createTransport } from '../../../src/kubernetes/client/transport.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { quietClusterMetrics, quietLogger } from '../../support/quiet.ts'
import { until } from '../../support/until.ts'

const CRONS = process.argv[2] ?? '50000'
const PAYLOAD_CHARACTERS = process.argv[3] ?? '1000'
const LIST_TIMEOUT_MS = 120_000
const SAMPLE_EVERY_MS = 10

const mib = (bytes: number): number => Math.round(bytes / 2 ** 20)

const child = fork(join(import.meta.dirname, 'crons-process.ts'), [CRONS, PAYLOAD_CHARACTERS], {
  execArgv: [],
})
const [port] = (await once(child, 'message')) as [number]

let lists = 0
const clock = systemClock
const metrics = { ...quietClusterMetrics, watchHeard: () => void (lists += 1) }
const config = {
  server: `http://127.0.0.1:${port}`,
  access: async () => ({ headers: {}, tls: {} }),
  renew: () => undefined,
}
const transport = createTransport({ config, clock, metrics, userAgent: 'punctual/measure' })
const view = new SharedInformer({
  clock,
  metrics,
  transport,
  logger: quietLogger,
  random: Math.random,
  kind: HTTP_CRONS,
  namespaces: null,
  indexes: {},
})

let peak = 0
const sampling = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, SAMPLE_EVERY_MS)
view.start()
await view.whenSynced(AbortSignal.timeout(LIST_TIMEOUT_MS))
const crons = [...view.all()].length
globalThis.gc?.()
const { heap_size_limit: limit, used_heap_size: listed } = getHeapStatistics()
process.stdout.write(`heap limit ${mib(limit)} MiB; ${crons} crons listed: heap ${mib(listed)} MiB\n`)

// The list, the end of the first watch, the second list.
await until('the relist', () => lists >= 3, LIST_TIMEOUT_MS)
clearInterval(sampling)
globalThis.gc?.()
const after = getHeapStatistics().used_heap_size
process.stdout.write(`listed anew: heap ${mib(after)} MiB, memory at most ${mib(peak)} MiB\n`)
await view.stop()
await transport.close()
child.disconnect()
