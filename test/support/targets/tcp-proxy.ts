/** A TCP proxy between a role and Redis that holds, swallows, delays or cuts what passes, also at a chosen script. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { readCommands } from '../servers/resp-commands.ts'

export interface TcpProxy {
  readonly port: number
  readonly url: string
  /** Bytes wait, in both directions, until `release`. */
  hold(): void
  release(): void
  /** Bytes vanish in both directions, and new connections get no answer; `heal` cuts these and serves new ones. */
  blackHole(): void
  heal(): void
  /** Bytes of the connections there are vanish in both directions, with no reset ever; new ones are served. */
  forgetAll(): void
  /** Every chunk comes this much later, in both directions. */
  delay(ms: number): void
  /** Resets every connection. */
  cutAll(): void
  /** Resets the connection when this many more bytes of answers have passed. */
  cutAfter(bytes: number): void
  /**
   * Once, at the next EVALSHA of this script: its connection is cut before Redis gets it, or after Redis has run it and
   * before the answer passes. Resolves at that moment, after `action` ran.
   */
  cutAtScript(
    sha: string,
    when: 'before' | 'after',
    action?: () => void,
    /** Asked about the command's bytes: only one that is meant springs the trap. */
    isMeant?: (command: Buffer) => boolean,
  ): Promise<void>
  close(): Promise<void>
}

interface Trap {
  readonly sha: string
  readonly when: 'before' | 'after'
  isMeant(command: Buffer): boolean
  spring(): void
}

interface Chunk {
  readonly bytes: Buffer
  isDue: boolean
  passed?: (() => void) | undefined
}

interface Link {
  readonly client: Socket
  readonly server: Socket
  /** The last bytes of its answers are on their way; what comes later is not passed. */
  isEnding: boolean
  isForgotten: boolean
  /** Set while the answer of a trapped script is awaited. */
  sentinel: { readonly text: string; seen: string; spring(): void } | null
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const links = new Set<Link>()
  const traps: Trap[] = []
  let mode: 'open' | 'held' | 'swallowed' = 'open'
  let delayMs = 0
  let bytesLeft = Number.POSITIVE_INFINITY
  /** What is under way to a socket, oldest first. */
  const ways = new Map<Socket, Chunk[]>()
  let nonces = 0

  /** Bytes arrive in the order in which they were passed, also when the delay has changed meanwhile. */
  function pass(socket: Socket, bytes: Buffer, passed?: () => void): void {
    const chunk: Chunk = { bytes, isDue: delayMs === 0, passed }
    const way = ways.get(socket)
    if (way === undefined) ways.set(socket, [chunk])
    else way.push(chunk)
    if (chunk.isDue) {
      advance(socket)
      return
    }
    setTimeout(() => {
      chunk.isDue = true
      advance(socket)
    }, delayMs)
  }

  function advance(socket: Socket): void {
    const way = ways.get(socket) ?? []
    while (way[0]?.isDue && mode !== 'held') {
      const { bytes, passed } = way.shift() as Chunk
      if (mode !== 'swallowed' && !socket.destroyed) socket.write(bytes, passed)
    }
  }

  function cut(link: Link): void {
    links.delete(link)
    ways.delete(link.client)
    ways.delete(link.server)
    if (!link.client.destroyed) link.client.resetAndDestroy()
    link.server.destroy()
  }

  /** Answers whether the connection goes on. */
  function passCommand(link: Link, words: readonly string[], bytes: Buffer): boolean {
    const at = traps.findIndex(
      (trap) => words[0]?.toUpperCase() === 'EVALSHA' && trap.sha === words[1] && trap.isMeant(bytes),
    )
    const trap = traps[at]
    if (trap === undefined) {
      if (link.sentinel === null) pass(link.server, bytes)
      return true
    }
    traps.splice(at, 1)
    if (trap.when === 'before') {
      trap.spring()
      cut(link)
      return false
    }
    // The echo comes back once the script has run: no reply needs to be understood.
    const text = `punctual-proxy-${(nonces += 1)}`
    link.sentinel = { text, seen: '', spring: () => trap.spring() }
    pass(link.server, bytes)
    pass(link.server, Buffer.from(`*2\r\n$4\r\nECHO\r\n$${text.length}\r\n${text}\r\n`))
    return true
  }

  function answered(link: Link, bytes: Buffer): void {
    if (link.sentinel !== null) {
      link.sentinel.seen = (link.sentinel.seen + bytes.toString('latin1')).slice(-1024)
      if (!link.sentinel.seen.includes(link.sentinel.text)) return
      link.sentinel.spring()
      cut(link)
      return
    }
    if (link.isEnding) return
    if (bytes.length > bytesLeft) {
      link.isEnding = true
      pass(link.client, bytes.subarray(0, bytesLeft), () => cut(link))
      bytesLeft = Number.POSITIVE_INFINITY
      return
    }
    bytesLeft -= bytes.length
    pass(link.client, bytes)
  }

  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    const link: Link = { client, server: upstream, isEnding: false, isForgotten: false, sentinel: null }
    links.add(link)
    const read = readCommands((words, bytes) => passCommand(link, words, bytes))
    client.on('data', (bytes: Buffer) => {
      if (!link.isForgotten) read(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      if (!link.isForgotten) answered(link, bytes)
    })
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        // A hole swallows the goodbye as well.
        const isSwallowed = mode === 'swallowed' || link.isForgotten
        if (!isSwallowed || socket === client) cut(link)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const cutAll = () => {
    for (const link of links) cut(link)
  }
  const release = () => {
    mode = 'open'
    for (const socket of ways.keys()) advance(socket)
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    hold: () => {
      mode = 'held'
    },
    release,
    blackHole: () => {
      mode = 'swallowed'
    },
    heal: () => {
      mode = 'open'
      cutAll()
    },
    forgetAll: () => {
      for (const link of links) link.isForgotten = true
    },
    delay: (ms) => {
      delayMs = ms
    },
    cutAll,
    cutAfter: (bytes) => {
      bytesLeft = bytes
    },
    cutAtScript: (sha, when, action, isMeant = () => true) =>
      new Promise((resolve) => {
        traps.push({
          sha,
          when,
          isMeant,
          spring: () => {
            action?.()
            resolve()
          },
        })
      }),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      cutAll()
      await closed
    },
  }
}
