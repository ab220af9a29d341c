/** What both processes of graphile-worker share. The database comes from PGHOST, PGPORT, PGUSER and PGDATABASE. */
import { Logger } from 'graphile-worker'
import { Pool } from 'pg'

export const quietLogger = new Logger(() => () => undefined)

export function openPool(connections: number): Pool {
  const pool = new Pool({ max: connections })
  pool.on('error', () => undefined)
  return pool
}
