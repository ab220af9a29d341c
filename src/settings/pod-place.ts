import type { Environment } from './setting.ts'

/** Where Kubernetes mounts the credentials of a pod. */
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** What Kubernetes tells a pod about its API server; null outside of one, and where KUBECONFIG names another. */
export function readPodPlace(env: Environment = process.env) {
  const { KUBECONFIG: kubeconfig = '' } = env
  const { KUBERNETES_SERVICE_HOST: apiServerHost = '', KUBERNETES_SERVICE_PORT: apiServerPort = '' } = env
  if (kubeconfig !== '' || apiServerHost === '' || apiServerPort === '') return null
  return { apiServerHost, apiServerPort, accountFolder: ACCOUNT_FOLDER }
}
