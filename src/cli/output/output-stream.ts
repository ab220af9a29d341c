import type { Writable } from 'node:stream'

export interface OutputStream {
  write(text: string): unknown
  /** true = a person reads the output. */
  readonly isTerminal?: boolean
  /** Columns of the terminal; null = it is none, or does not say. */
  readonly width?: number | null
}

/**
 * Wraps a stream whose reader may close it early, as `head` does. The rest of the output is then dropped, and the
 * command ends normally.
 */
export function ignoringBrokenPipe(
  stream: Writable & { readonly isTTY?: boolean; readonly columns?: number },
): OutputStream {
  const onError = (fault: NodeJS.ErrnoException): void => {
    if (fault.code !== 'EPIPE') throw fault
  }
  return {
    isTerminal: stream.isTTY === true,
    get width() {
      // A terminal of no columns does not know its size.
      return stream.isTTY === true && (stream.columns ?? 0) > 0 ? (stream.columns ?? null) : null
    },
    write: (text) => {
      // This waits until a command writes, as roles handle a broken pipe in another way.
      if (!stream.listeners('error').includes(onError)) stream.on('error', onError)
      stream.write(text)
    },
  }
}
