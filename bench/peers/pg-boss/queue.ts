/** What both processes of pg-boss share. The database comes from PGHOST, PGPORT, PGUSER and PGDATABASE. */
import { PgBoss } from 'pg-boss'

export const QUEUE = 'bench'

/** Its queue tells workers of new jobs; a table of its own makes it faster. Both processes may make it. */
export async function openBoss(connections: number): Promise<PgBoss> {
  const boss = new PgBoss({ max: connections, useListenNotify: true, schedule: false, supervise: false })
  boss.on('error', () => undefined)
  await boss.start()
  if ((await boss.getQueue(QUEUE)) === null) {
    await boss.createQueue(QUEUE, { notify: true, partition: true })
  }
  return boss
}
