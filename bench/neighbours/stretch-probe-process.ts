/**
 * Loaded into an API process with `--import`: finds its longest synchronous stretch, in CPU time of the main thread, between
 * two turns of the event loop. `GET /` on `STRETCH_PORT` answers it in ms and begins anew. The loop never rests meanwhile.
 */
import { createServer } from 'node:http'

let longestMicros = 0
let lastMicros = cpuMicros()

function cpuMicros(): number {
  // Linux brings the figure of a running thread up to date only when that of the process is asked for.
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return user + system
}

function look(): void {
  const nowMicros = cpuMicros()
  longestMicros = Math.max(longestMicros, nowMicros - lastMicros)
  lastMicros = nowMicros
  setImmediate(look)
}

createServer((_request, response) => {
  response.end(String(longestMicros / 1_000))
  longestMicros = 0
  // What this answer costs is not the API's.
  lastMicros = cpuMicros()
}).listen(Number(process.env['STRETCH_PORT']), '127.0.0.1')
setImmediate(look)
