import { connect as connectTcp } from 'node:net'
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls'
import { AbstractConnector } from 'ioredis'
import type { ServerAddress } from './sentinel-news.ts'

/** A pause between two questions that no sentinel has answered. */
const ASK_AGAIN_MS = 250

type NetStream = Awaited<ReturnType<AbstractConnector['connect']>>

export interface PrimaryConnectorOptions {
  /** Rejects when no sentinel answers. */
  primary(): Promise<ServerAddress>
  /** null = the primary is spoken to in the clear. The properties are taken anew for each connection. */
  readonly tls: TlsOptions | null
  onOpen(stream: NetStream): void
}

/** Leads the connections of a client to the primary of the moment: the client asks for a stream before each. */
export class PrimaryConnector extends AbstractConnector {
  readonly #options: PrimaryConnectorOptions
  #attempt = 0

  constructor(options: PrimaryConnectorOptions) {
    super(0)
    this.#options = options
  }

  /** Whether the server that was reached still says that it is a primary; without the right to ask, it is believed. */
  override check(info: { readonly role?: string }): boolean {
    return info.role === undefined || info.role === 'master'
  }

  /** Asks until there is an answer. @throws when the client was disconnected meanwhile */
  override async connect(emit: (event: string, error: Error) => void): Promise<NetStream> {
    this.connecting = true
    const attempt = (this.#attempt += 1)
    for (;;) {
      const primary = await this.#options.primary().catch((error: unknown) => {
        emit('error', error as Error)
        return null
      })
      if (!this.connecting || attempt !== this.#attempt) throw new Error('Connection is closed.')
      if (primary !== null) return this.#open(primary)
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
    }
  }

  /** At once: a server that is deposed or paused may never end its side. */
  override disconnect(): void {
    this.connecting = false
    this.stream?.destroy()
  }

  #open({ host, port }: ServerAddress): NetStream {
    const { tls } = this.#options
    this.stream = tls === null ? connectTcp({ host, port }) : connectTls({ ...tls, host, port })
    this.stream.once('error', (error: Error) => {
      this.firstError = error
    })
    this.#options.onOpen(this.stream)
    return this.stream
  }
}
