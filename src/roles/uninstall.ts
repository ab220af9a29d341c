import { reasonOf, ResourceApiError, RoleEndedError } from '../domain/errors.ts'
import { ignoreNotFound } from '../kubernetes/client/api-errors.ts'
import { objectPath } from '../kubernetes/client/resource-path.ts'
import type { Transport } from '../kubernetes/client/transport.ts'
import { helmStatusOf } from '../kubernetes/fleet/helm-release.ts'
import { stopDeployment, wantsPods } from '../kubernetes/fleet/stopped-deployment.ts'
import { LEASES } from '../kubernetes/leader-election/lease-lock.ts'
import { CONFIG_MAPS } from '../kubernetes/resources/engine-record.ts'
import { releaseResources, removeResources } from '../kubernetes/resources/leaving-resources.ts'
import type { UninstallSettings } from '../settings/role-settings.ts'
import { createLogger } from '../telemetry/logger.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { openBriefTransport } from './parts/cluster-part.ts'
import { ownObjectName } from './parts/controller-part.ts'

/** The status of a release in Helm's words while its hooks before a deletion run. */
const UNINSTALLING = 'uninstalling'

/**
 * Readies an installation for its removal, and may be run again wherever it has died. Resources that stay can be deleted
 * without a controller afterwards; with `removeResources` they go with their data, and no record of the engine is left,
 * so that a later installation is a new one. It touches nothing unless Helm says that the release is on its way out, or
 * somebody has named the installation: to tools that know no hooks, its Job is one like any other.
 */
export async function runUninstall(settings: UninstallSettings): Promise<void> {
  const logger = createLogger({ level: settings.logLevel, format: settings.logFormat })
  const transport = await openBriefTransport()
  const { podNamespace: namespace, instanceName, watchNamespaces: namespaces } = settings
  const { namespaceSelector: labelSelector } = settings
  const untilMs = systemClock.monotonicMs() + settings.uninstallSeconds * 1_000
  const parts = {
    transport,
    namespaces,
    labelSelector,
    ownNamespace: namespace,
    clock: systemClock,
    untilMs,
  }
  const stop = async (role: string): Promise<void> => {
    const name = `${instanceName}-${role}`
    await stopDeployment(parts, { namespace, name })
    logger.info('A Deployment was stopped', { namespace, name })
  }
  try {
    await refuseUnmeant(transport, settings)
    if (settings.removeResources) {
      // Pushes would make queues again.
      await stop('api')
      const hasController = () => wantsPods(transport, { namespace, name: `${instanceName}-controller` })
      const count = await removeResources({ ...parts, hasController })
      logger.info('Crons and queues are removed', { count })
    }
    await stop('controller')
    if (settings.removeResources)
      await removeObject(transport, objectPath(CONFIG_MAPS, ownObjectName(settings, 'state')))
    else logger.info('Finalizers are removed', { count: await releaseResources(parts) })
    await removeObject(transport, objectPath(LEASES, ownObjectName(settings, 'controller')))
  } catch (error) {
    if (!(error instanceof ResourceApiError)) throw error
    throw new RoleEndedError(`The installation is not ready to be removed: ${reasonOf(error)}`, {
      cause: error,
    })
  } finally {
    await transport.close()
  }
}

/** Throws RoleEndedError when nobody has said that this installation is to go, and ResourceApiError. */
async function refuseUnmeant(
  transport: Transport,
  {
    podNamespace: namespace,
    instanceName,
    confirmed,
    helmRevision,
  }: Pick<UninstallSettings, 'podNamespace' | 'instanceName' | 'confirmed' | 'helmRevision'>,
): Promise<void> {
  const installation = `${namespace}/${instanceName}`
  if (confirmed === installation) return
  const status = helmRevision === null ? null : await helmStatusOf(transport, { namespace, ...helmRevision })
  if (status === UNINSTALLING) return
  const why =
    confirmed !== null
      ? `The installation ${confirmed} was confirmed, and this one is ${installation}`
      : status !== null
        ? `Helm says that the release is ${status}, not ${UNINSTALLING}`
        : 'No Secret of Helm in this namespace says that the release is being uninstalled'
  throw new RoleEndedError(
    `${why}. Nothing was touched. If tools without hooks have applied this Job, delete it and render with --no-hooks; ` +
      `if ${installation} is to go, confirm that with PUNCTUAL_CONFIRM=${installation} (uninstallHook.confirmed in the chart).`,
  )
}

async function removeObject(transport: Transport, path: string): Promise<void> {
  await ignoreNotFound(transport.request({ method: 'DELETE', path }))
}
