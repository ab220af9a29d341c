import { BackupError, RoleEndedError, StoreUnavailableError } from '../../domain/errors.ts'

const MIB = 1024 ** 2

/** `1,234 keys, 56.7 MiB` */
export function sizeText({ keys, bytes }: { readonly keys: number; readonly bytes: number }): string {
  return `${keys.toLocaleString('en')} keys, ${(bytes / MIB).toFixed(1)} MiB`
}

export function secondsText(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** What the program ends with. */
export function endingOf(error: unknown): unknown {
  const isTold = error instanceof BackupError || error instanceof StoreUnavailableError
  return isTold ? new RoleEndedError(error.message, { cause: error }) : error
}
