import type { KeyObject } from 'node:crypto'
import { StartupError } from '../../domain/errors.ts'
import { readDataFolder } from '../../standalone/data-folder.ts'

interface GivenAccess {
  readonly redisUrl: string | null
  readonly dataDir: string
}

/** Takes the access from the settings, or else from the data folder of a standalone. @throws StartupError */
export function findAccess({
  redisUrl,
  secretsKey,
  dataDir,
}: GivenAccess & { readonly secretsKey: KeyObject | null }): { redisUrl: string; secretsKey: KeyObject } {
  const kept = redisUrl === null || secretsKey === null ? readDataFolder(dataDir) : null
  const url = redisUrl ?? kept?.redisUrl ?? null
  const key = secretsKey ?? kept?.secretsKey ?? null
  if (url !== null && key !== null) return { redisUrl: url, secretsKey: key }
  const missing = [
    ...(url === null ? ['PUNCTUAL_REDIS_URL'] : []),
    ...(key === null ? ['PUNCTUAL_SECRETS_KEY'] : []),
  ]
  throw missingAccess(missing, dataDir)
}

/** The same of Redis alone. @throws StartupError */
export function findRedis({ redisUrl, dataDir }: GivenAccess): string {
  const url = redisUrl ?? readDataFolder(dataDir).redisUrl
  if (url !== null) return url
  throw missingAccess(['PUNCTUAL_REDIS_URL'], dataDir)
}

function missingAccess(missing: readonly string[], dataDir: string): StartupError {
  return new StartupError(
    `${missing.join(' and ')} must be set as for the roles: no standalone has kept them in ${dataDir}.`,
  )
}
