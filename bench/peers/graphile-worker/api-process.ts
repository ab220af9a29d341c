/** graphile-worker behind the least API: the pushes of one turn go in by one `addJobs`. */
import { makeWorkerUtils } from 'graphile-worker'
import { gathered, serveIntake, type AddMany } from '../node/intake.ts'
import { dueAt, readOptions } from '../node/push.ts'
import { openPool, quietLogger } from './database.ts'

const CONNECTIONS = 4
const options = readOptions() as { port: number }
const utils = await makeWorkerUtils({ pgPool: openPool(CONNECTIONS), logger: quietLogger })
await utils.migrate()

const addMany: AddMany = async (pushes) => {
  const jobs = await utils.addJobs(
    pushes.map((push) => ({ identifier: 'call', payload: push, runAt: dueAt(push) ?? undefined })),
  )
  return jobs.map(({ id }) => id)
}

serveIntake(options.port, { add: gathered(addMany), addMany })
