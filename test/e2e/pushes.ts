import type { ApiClient, Push } from '../support/api-client.ts'

const AT_ONCE = 32

/** Pushes `count` alike jobs, some at once; resolves when all are accepted. */
export async function pushMany(punctual: ApiClient, count: number, job: Push): Promise<void> {
  let left = count
  const pushOnAndOn = async () => {
    while (left > 0) {
      left -= 1
      await punctual.push(job)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, pushOnAndOn))
}
