import { afterAll, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { openSharedRelease } from '../support/open-release.ts'

/** A container that does not hear SIGTERM lives so long. */
const GRACE_SECONDS = 110
/** What a pod needs to go when its process has ended, also on a busy machine. */
const GONE_MS_MAX = 60_000

const cluster = openSharedRelease()
const inDefault = (...given: string[]) => cluster.kubectl('--namespace', 'default', ...given)

export function earlyStop(): void {
  afterAll(() => cluster.close())

  test.each(['executor', 'api', 'controller'])(
    'a pod of the %s that is told to stop while Node begins ends at once',
    async (role) => {
      const name = `early-${role}`
      const container = {
        name,
        image: 'punctual:e2e',
        args: [role],
        env: [
          { name: 'PUNCTUAL_REDIS_URL', value: 'redis://127.0.0.1:1' },
          { name: 'PUNCTUAL_SECRETS_KEY', value: Buffer.alloc(32, 7).toString('base64') },
        ],
        // Node needs some ten seconds with so little: the signal comes in time.
        resources: { limits: { cpu: '25m', memory: '256Mi' } },
      }
      const spec = {
        terminationGracePeriodSeconds: GRACE_SECONDS,
        restartPolicy: 'Never',
        containers: [container],
      }
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }
      await cluster.kubernetes.apply(JSON.stringify(pod), { namespace: 'default' })
      const phase = ['get', 'pod', name, '--output', 'jsonpath={.status.phase}']
      await until('its container runs', async () => (await inDefault(...phase)) === 'Running')
      const toldAt = performance.now()
      await inDefault('delete', 'pod', name, '--wait')
      expect(performance.now() - toldAt).toBeLessThan(GONE_MS_MAX)
    },
  )
}
