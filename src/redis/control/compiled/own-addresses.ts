import type { RedisConnection } from '../../base/client/connection.ts'
import { OWN_ADDRESSES_KEY } from '../../base/layout/keys.ts'
import { addressesIn } from './stored-settings.ts'

/** The addresses of our pods and of the API server, as the controller found them last; none where there is no controller. */
export async function readOwnAddresses(connection: Pick<RedisConnection, 'hgetall'>): Promise<string[]> {
  return addressesIn(await connection.hgetall(OWN_ADDRESSES_KEY))
}
