/** A setup file: gives a worker its environment, and ends what a test file leaves running before the next one begins. */
import { afterAll } from 'vitest'
import { endLeftBehind, OF_WORKER, prepareWorker, STAYS } from './worker-processes.ts'

if (process.env[OF_WORKER] !== String(process.pid)) prepareWorker()
afterAll(() => endLeftBehind(Number(process.env[STAYS])))
