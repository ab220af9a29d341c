/** The code of an error, such as `EMFILE`; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

const OUT_OF_DESCRIPTORS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

/** Whether this machine is out of file descriptors or memory for sockets. */
export function isOutOfDescriptors(error: unknown): boolean {
  return OUT_OF_DESCRIPTORS.has(codeOf(error))
}
