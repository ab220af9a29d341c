import type { Writable } from 'node:stream'

export interface OutputStream {
  write(text: string): unknown
  /** Whether a person looks at it. */
  readonly isTerminal?: boolean
}

/**
 * A stream whose reader may close it early, as `head` does. The rest of the output is dropped and the command ends
 * normally.
 */
export function ignoringBrokenPipe(stream: Writable & { readonly isTTY?: boolean }): OutputStream {
  const onError = (fault: NodeJS.ErrnoException): void => {
    if (fault.code !== 'EPIPE') throw fault
  }
  return {
    isTerminal: stream.isTTY === true,
    write: (text) => {
      // Only once a command writes: roles handle a broken pipe otherwise.
      if (!stream.listeners('error').includes(onError)) stream.on('error', onError)
      stream.write(text)
    },
  }
}
