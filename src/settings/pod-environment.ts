import type { Environment } from './setting.ts'

/** Folder in which Kubernetes mounts the credentials of a pod. */
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** How a pod reaches its API server; null outside a pod, and where KUBECONFIG names another cluster. */
export function readPodEnvironment(env: Environment = process.env) {
  const { KUBECONFIG: kubeconfig = '' } = env
  const { KUBERNETES_SERVICE_HOST: apiServerHost = '', KUBERNETES_SERVICE_PORT: apiServerPort = '' } = env
  if (kubeconfig !== '' || apiServerHost === '' || apiServerPort === '') return null
  return { apiServerHost, apiServerPort, accountFolder: ACCOUNT_FOLDER }
}
