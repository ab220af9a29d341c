import type { Writable } from 'node:stream'

/** Where a verb writes. */
export interface VerbOutput {
  write(text: string): unknown
}

/**
 * A stream whose reader may leave when it has seen enough, as `head` does. That is no fault of the verb: the rest is
 * dropped, and the verb ends as it would have.
 */
export function untilReaderLeaves(stream: Writable): VerbOutput {
  const onError = (fault: NodeJS.ErrnoException): void => {
    if (fault.code !== 'EPIPE') throw fault
  }
  return {
    write: (text) => {
      // Not before a verb writes: the roles have other ends.
      if (!stream.listeners('error').includes(onError)) stream.on('error', onError)
      stream.write(text)
    },
  }
}
