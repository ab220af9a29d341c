/**
 * Loaded before a program by `--import`: its service account lies in the folder that ACCOUNT_FOLDER names, for a test
 * must not write where a pod has it.
 */
import { registerHooks } from 'node:module'

const POD_ENVIRONMENT = new URL('../../../src/settings/pod-environment.ts', import.meta.url).href
const FOLDER_OF_PODS = '/var/run/secrets/kubernetes.io/serviceaccount'

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context)
    if (url !== POD_ENVIRONMENT) return loaded
    const { source: given } = loaded
    const source = typeof given === 'string' ? given : new TextDecoder().decode(given)
    return { ...loaded, source: source.replace(FOLDER_OF_PODS, process.env['ACCOUNT_FOLDER'] ?? '') }
  },
})
