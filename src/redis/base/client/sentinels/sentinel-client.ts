import { Redis } from 'ioredis'
import { type ConnectionOptions, sentinelOptions } from '../client-options.ts'
import { PrimaryConnector } from './primary-connector.ts'
import type { ServerAddress } from './sentinel-news.ts'
import { openSentinel } from './sentinel.ts'
import { SentinelWatch } from './sentinel-watch.ts'

/** A client of the primary that sentinels name. It has connected to nothing yet; `disconnect` ends the watch as well. */
export function openBySentinels(
  options: ConnectionOptions,
  parts: { readonly sentinels: readonly ServerAddress[]; onError(error: Error): void },
): { readonly client: Redis; readonly name: string; isSettled(): Promise<boolean> } {
  const { clock, logger } = options
  const { name, client: clientOptions, sentinel, tls } = sentinelOptions(options)
  let cut = (): void => undefined
  const watch = new SentinelWatch({
    sentinels: parts.sentinels,
    open: (address, listener) =>
      openSentinel(address, { name, client: sentinel, listener, onError: parts.onError }),
    clock,
    logger,
    onHalt: () => cut(),
    onPrimary: () => {
      cut()
      // Its next attempt may be a second away.
      if (client.status === 'reconnecting') reconnectNow(client)
    },
  })
  const connectorOptions = {
    primary: () => watch.primary(),
    tls,
    onOpen: (stream: { destroy(): unknown }) => {
      cut = () => void stream.destroy()
    },
  }
  const client = new Redis({
    ...clientOptions,
    Connector: class extends PrimaryConnector {
      constructor() {
        super(connectorOptions)
      }
    },
    reconnectOnError: (error) => {
      // A primary without replicas may be a former one.
      if (error.message.startsWith('NOREPLICAS')) watch.doubt()
      return clientOptions.reconnectOnError(error)
    },
  })
  // A client between two attempts ends without a word.
  const disconnect = client.disconnect.bind(client)
  client.disconnect = (reconnect = false) => {
    if (!reconnect) watch.stop()
    disconnect(reconnect)
  }
  client.once('end', () => watch.stop())
  return { client, name, isSettled: () => watch.isSettled() }
}

/** Without its timer, which would connect once more. */
function reconnectNow(client: Redis): void {
  const waiting = client as unknown as { reconnectTimeout: NodeJS.Timeout | null }
  if (waiting.reconnectTimeout !== null) clearTimeout(waiting.reconnectTimeout)
  waiting.reconnectTimeout = null
  client.connect().catch(() => undefined)
}
