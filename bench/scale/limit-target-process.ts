/**
 * A target that answers each call after a while and counts how many are open at once for each path. Argument: `{port,
 * callMs}`.
 */
import { createServer } from 'node:http'
import { CountedCalls } from './counted-calls.ts'

const { port, callMs } = JSON.parse(process.argv[2] ?? '') as { port: number; callMs: number }
const calls = new CountedCalls()

createServer((request, response) => {
  const path = request.url ?? ''
  if (path === '/state') {
    response.end(JSON.stringify(calls.state()))
    return
  }
  request.resume()
  calls.begin(path)
  setTimeout(() => {
    // Before the answer is sent: after it the next call may come at once.
    calls.end(path)
    response.end()
  }, callMs)
}).listen({ port, host: '127.0.0.1', backlog: 8192 })
process.once('SIGTERM', () => process.exit())
