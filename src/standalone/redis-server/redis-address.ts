import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { RedisAddress } from './redis-config.ts'

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, the end mark included. */
const SOCKET_PATH_BYTES_MAX = 100
const ADDRESS_FILE = 'place.json'

/**
 * The address of the last Redis of this folder: its socket if the path is short enough, else its port. null = no port
 * is known.
 */
export function rememberedAddress(folder: string): RedisAddress | null {
  const path = socketPath(folder)
  if (path !== null) return { kind: 'socket', path }
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, ADDRESS_FILE), 'utf8'))
    return isPortAddress(value) ? value : null
  } catch {
    return null
  }
}

/** Chooses the address of a new Redis of this folder, and writes it down first so that it can be found again. */
export async function newAddress(folder: string): Promise<RedisAddress> {
  const path = socketPath(folder)
  if (path !== null) return { kind: 'socket', path }
  const address: RedisAddress = {
    kind: 'port',
    port: await freePort(),
    password: randomBytes(24).toString('hex'),
  }
  writeFileSync(join(folder, ADDRESS_FILE), `${JSON.stringify(address)}\n`, { mode: 0o600 })
  return address
}

function socketPath(folder: string): string | null {
  const path = join(folder, 'redis.sock')
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX ? path : null
}

function isPortAddress(value: unknown): value is RedisAddress {
  if (typeof value !== 'object' || value === null) return false
  const { port, password } = value as Record<string, unknown>
  return Number.isInteger(port) && typeof password === 'string' && /^[0-9a-f]+$/.test(password)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}
