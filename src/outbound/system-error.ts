/** `EMFILE` and its like; empty for what is no error of the system or of a library that names its errors so. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

const OUT_OF_DESCRIPTORS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

/** Whether this machine can open nothing more, wherever it leads. */
export function isOutOfDescriptors(error: unknown): boolean {
  return OUT_OF_DESCRIPTORS.has(codeOf(error))
}
