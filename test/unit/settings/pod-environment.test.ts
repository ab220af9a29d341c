import { expect, it } from 'vitest'
import { readPodEnvironment } from '../../../src/settings/pod-environment.ts'

const POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }

it('is what Kubernetes tells a pod', () => {
  expect(readPodEnvironment(POD)).toMatchObject({ apiServerHost: '10.96.0.1', apiServerPort: '443' })
})

it.each([
  ['outside of a pod', {}],
  ['where KUBECONFIG names a cluster', { ...POD, KUBECONFIG: '/home/ann/.kube/config' }],
])('is nothing %s', (_where, env) => {
  expect(readPodEnvironment(env)).toBeNull()
})
