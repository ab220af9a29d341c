import type { Redis } from 'ioredis'

/** Keys in Redis that hold a text, in whatever form they keep it. */
export async function keysWith(client: Redis, text: string): Promise<string[]> {
  const found: string[] = []
  for (const key of await client.keys('*')) {
    const held = await everythingIn(client, key)
    if (held.includes(text) || held.includes(Buffer.from(text).toString('base64'))) found.push(key)
  }
  return found
}

async function everythingIn(client: Redis, key: string): Promise<string> {
  switch (await client.type(key)) {
    case 'hash':
      return JSON.stringify(await client.hgetall(key))
    case 'list':
      return JSON.stringify(await client.lrange(key, 0, -1))
    case 'set':
      return JSON.stringify(await client.smembers(key))
    case 'zset':
      return JSON.stringify(await client.zrange(key, '0', '-1'))
    case 'stream':
      return JSON.stringify(await client.xrange(key, '-', '+'))
    default:
      return String(await client.get(key))
  }
}
