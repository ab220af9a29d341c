/** The client verbs as real processes, among the tools of a shell. */
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const MAIN = join(import.meta.dirname, '../../../src/main.ts')
/** More than a pipe holds. */
const BODY = JSON.stringify({ jobs: [], next_cursor: 'x'.repeat(1_000_000) })

test('a reader that has seen enough ends a verb without a word', async () => {
  const server = createServer((_, response) => void response.end(BODY))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const line = `set -o pipefail; "$0" "$1" jobs -o json | head -c 10`
  try {
    const ran = await promisify(execFile)('bash', ['-c', line, process.execPath, MAIN], {
      env: { ...process.env, PUNCTUAL_SERVER: address, PUNCTUAL_TOKEN: 'secret' },
    })
    expect(ran).toEqual({ stdout: BODY.slice(0, 10), stderr: '' })
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
