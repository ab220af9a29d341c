import { Redis } from 'ioredis'
import type { sentinelOptions } from '../client-options.ts'
import { NEWS_PATTERNS, newsAbout, type ServerAddress } from './sentinel-news.ts'

/** What one sentinel says of the primary. */
export interface SentinelView {
  readonly primary: ServerAddress
  /** The number of the failover that made it the primary: of two views the greater one is the newer. */
  readonly epoch: number
  /** This sentinel leads a failover, or tries to, and has promoted no replica yet. */
  readonly isFailingOver: boolean
}

/** A connection to one sentinel. */
export interface Sentinel {
  /** @throws when the sentinel does not answer, or knows no primary of that name */
  read(): Promise<SentinelView>
  /** Answers the other sentinels that this one knows. */
  readOthers(): Promise<readonly ServerAddress[]>
  close(): void
}

export interface SentinelListener {
  /** The connection stands: what was told before has not been heard. */
  connected(): void
  heard(news: 'begins' | 'changed'): void
}

type SentinelClientOptions = ReturnType<typeof sentinelOptions>['sentinel']

/** Connects, again and again, and listens. */
export function openSentinel(
  { host, port }: ServerAddress,
  options: {
    readonly name: string
    readonly client: SentinelClientOptions
    readonly listener: SentinelListener
    onError(error: Error): void
  },
): Sentinel {
  const { name, listener, onError } = options
  // One connection hears and asks, which takes RESP3: every sentinel of Redis 7 and Valkey speaks it.
  const client = new Redis({ ...options.client, host, port, protocol: 3 })
  client.on('error', onError)
  client.on('pmessage', (_pattern: string, channel: string, message: string) => {
    const news = newsAbout(name, channel, message)
    if (news !== null) listener.heard(news)
  })
  client.on('ready', () => {
    client.psubscribe(...NEWS_PATTERNS).then(() => listener.connected(), onError)
  })
  client.connect().catch(() => undefined)
  return {
    read: async () => {
      const [state, primary] = await Promise.all([
        client.call('SENTINEL', 'MASTER', name),
        // During a failover this is the new primary, as soon as it has been promoted.
        client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name),
      ])
      return viewOf(fieldsOf(state), primary as readonly [string, string] | null, name)
    },
    readOthers: async () => {
      const others = (await client.call('SENTINEL', 'SENTINELS', name)) as readonly unknown[]
      return others
        .map(fieldsOf)
        .map((fields) => ({ host: fields['ip'] ?? '', port: Number(fields['port']) }))
    },
    close: () => client.disconnect(),
  }
}

function viewOf(
  fields: Readonly<Record<string, string>>,
  address: readonly [string, string] | null,
  name: string,
): SentinelView {
  if (address === null) throw new Error(`No such master with that name: ${name}`)
  const [host, port] = address
  const isSwitched = fields['ip'] !== host || fields['port'] !== port
  return {
    primary: { host, port: Number(port) },
    epoch: Number(fields['config-epoch'] ?? 0),
    isFailingOver: !isSwitched && (fields['flags'] ?? '').split(',').includes('failover_in_progress'),
  }
}

/** A map of RESP3 as the client gives it: names and values in turn. */
function fieldsOf(reply: unknown): Record<string, string> {
  const flat = reply as readonly string[]
  return Object.fromEntries(
    Array.from({ length: Math.floor(flat.length / 2) }, (_, i) => [flat[i * 2], flat[i * 2 + 1]]),
  ) as Record<string, string>
}
