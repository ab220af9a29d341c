/**
 * A target that answers nothing until it is released, and then everything at once. Counts open calls and the distinct
 * paths it has answered. Argument: `{controlPort, ports}`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

const options = JSON.parse(process.argv[2] ?? '') as { controlPort: number; ports: number[] }
let isReleased = false
let open = 0
let lastAnsweredMs = 0
const answered = new Set<string>()

const control = createServer((request, response) => {
  if (request.url === '/release') isReleased = true
  response.end(JSON.stringify({ open, answered: answered.size, lastAnsweredMs }))
})

function onCall(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  if (isReleased) {
    const path = request.url ?? ''
    if (!answered.has(path)) lastAnsweredMs = Date.now()
    answered.add(path)
    response.end()
    return
  }
  open += 1
  response.once('close', () => {
    open -= 1
  })
}

for (const port of options.ports) {
  createServer({ requestTimeout: 0, headersTimeout: 0 }, onCall).listen({
    port,
    host: '127.0.0.1',
    backlog: 8192,
  })
}
control.listen(options.controlPort, '127.0.0.1')
process.once('SIGTERM', () => process.exit())
