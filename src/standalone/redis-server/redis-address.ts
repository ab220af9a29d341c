import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { RedisPlace } from './redis-config.ts'

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, the end mark included. */
const SOCKET_PATH_BYTES_MAX = 100
const PLACE_FILE = 'place.json'

/** Where the last Redis of this folder listens: the socket, if its path is short enough. Null = no port is known. */
export function rememberedPlace(folder: string): RedisPlace | null {
  const path = socketPath(folder)
  if (path !== null) return { kind: 'socket', path }
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, PLACE_FILE), 'utf8'))
    return isPortPlace(value) ? value : null
  } catch {
    return null
  }
}

/** Where a new Redis of this folder will listen, written down first so that it can be found again. */
export async function newPlace(folder: string): Promise<RedisPlace> {
  const path = socketPath(folder)
  if (path !== null) return { kind: 'socket', path }
  const place: RedisPlace = {
    kind: 'port',
    port: await freePort(),
    password: randomBytes(24).toString('hex'),
  }
  writeFileSync(join(folder, PLACE_FILE), `${JSON.stringify(place)}\n`, { mode: 0o600 })
  return place
}

function socketPath(folder: string): string | null {
  const path = join(folder, 'redis.sock')
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX ? path : null
}

function isPortPlace(value: unknown): value is RedisPlace {
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
