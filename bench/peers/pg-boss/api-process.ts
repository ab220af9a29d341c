/** pg-boss behind the least API: the pushes of one turn go in by one `insert`. */
import { gathered, serveIntake, type AddMany } from '../node/intake.ts'
import { dueAt, readOptions } from '../node/push.ts'
import { openBoss, QUEUE } from './queue.ts'

const CONNECTIONS = 4
const options = readOptions() as { port: number }
const boss = await openBoss(CONNECTIONS)

const addMany: AddMany = async (pushes) => {
  const jobs = pushes.map((push) => {
    const due = dueAt(push)
    return due === null ? { data: push } : { data: push, startAfter: due }
  })
  return (await boss.insert(QUEUE, jobs, { returnId: true })) ?? []
}

serveIntake(options.port, { add: gathered(addMany), addMany })
