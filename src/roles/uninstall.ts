import { reasonOf, ResourceApiError, RoleEndedError } from '../domain/errors.ts'
import { ignoreNotFound } from '../kubernetes/client/api-errors.ts'
import { objectPath } from '../kubernetes/client/resource-path.ts'
import type { Transport } from '../kubernetes/client/transport.ts'
import { stopDeployment, wantsPods } from '../kubernetes/fleet/stopped-deployment.ts'
import { LEASES } from '../kubernetes/leader-election/lease-lock.ts'
import { CONFIG_MAPS } from '../kubernetes/resources/engine-record.ts'
import { releaseResources, removeResources } from '../kubernetes/resources/leaving-resources.ts'
import type { UninstallSettings } from '../settings/role-settings.ts'
import { createLogger } from '../telemetry/logger.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { openBriefTransport } from './parts/cluster-part.ts'
import { ownPlace } from './parts/controller-part.ts'

/**
 * Readies an installation for its removal, and may be run again wherever it has died. Resources that stay can be deleted
 * without a controller afterwards; with `removeResources` they go with their data, and no record of the engine is left,
 * so that a later installation is a new one.
 */
export async function runUninstall(settings: UninstallSettings): Promise<void> {
  const logger = createLogger({ level: settings.logLevel, format: settings.logFormat })
  const transport = await openBriefTransport()
  const { podNamespace: namespace, instanceName, watchNamespaces: namespaces } = settings
  const { namespaceSelector: labelSelector } = settings
  const untilMs = systemClock.monotonicMs() + settings.uninstallSeconds * 1_000
  const parts = {
    ...{ transport, namespaces, labelSelector, ownNamespace: namespace },
    ...{ clock: systemClock, untilMs },
  }
  const stop = async (role: string): Promise<void> => {
    const name = `${instanceName}-${role}`
    await stopDeployment(parts, { namespace, name })
    logger.info('A Deployment was stopped', { namespace, name })
  }
  try {
    if (settings.removeResources) {
      // Pushes would make queues again.
      await stop('api')
      const hasController = () => wantsPods(transport, { namespace, name: `${instanceName}-controller` })
      const count = await removeResources({ ...parts, hasController })
      logger.info('Crons and queues are removed', { count })
    }
    await stop('controller')
    if (settings.removeResources)
      await removeObject(transport, objectPath(CONFIG_MAPS, ownPlace(settings, 'state')))
    else logger.info('Finalizers are removed', { count: await releaseResources(parts) })
    await removeObject(transport, objectPath(LEASES, ownPlace(settings, 'controller')))
  } catch (error) {
    if (!(error instanceof ResourceApiError)) throw error
    throw new RoleEndedError(`The installation is not ready to be removed: ${reasonOf(error)}`, {
      cause: error,
    })
  } finally {
    await transport.close()
  }
}

async function removeObject(transport: Transport, path: string): Promise<void> {
  await ignoreNotFound(transport.request({ method: 'DELETE', path }))
}
