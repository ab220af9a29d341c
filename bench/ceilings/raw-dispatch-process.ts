/** As many POSTs as undici's lowest interface makes over 64 connections. Arguments: URL, seconds. Writes the rate. */
import { Pool } from 'undici'

const CONNECTIONS = 64
const url = new URL(process.argv[2] ?? '')
const endMs = performance.now() + Number(process.argv[3]) * 1000
const pool = new Pool(url.origin, { connections: CONNECTIONS, pipelining: 1 })
const body = Buffer.from('x'.repeat(64))
const headers = ['content-type', 'application/json']
const startMs = performance.now()
let calls = 0

await Promise.all(Array.from({ length: CONNECTIONS }, callInTurn))
process.stdout.write(String((calls * 1000) / (performance.now() - startMs)))
await pool.close()

async function callInTurn(): Promise<void> {
  while (performance.now() < endMs) await call()
}

function call(): Promise<void> {
  return new Promise((resolve, reject) => {
    pool.dispatch(
      { path: url.pathname, method: 'POST', headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: () => undefined,
        onResponseEnd: () => {
          calls += 1
          resolve()
        },
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
}
