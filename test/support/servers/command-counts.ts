import type { Redis } from 'ioredis'

/** What a server was asked while something ran: commands by name, with those that its scripts called, without our own. */
export async function commandsDuring(
  client: Pick<Redis, 'info' | 'config'>,
  act: () => Promise<unknown>,
): Promise<Record<string, number>> {
  await client.config('RESETSTAT')
  await act()
  const stats = await client.info('commandstats')
  const counts = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
    ([, name = '', calls]): [string, number] => [name, Number(calls)],
  )
  return Object.fromEntries(counts.filter(([name]) => !/^(config|info)/.test(name)))
}
