import type { TeamSettings } from '../../controller/kinds.ts'
import { Scaling, type ScalingOptions } from '../../controller/scaling/scaling.ts'
import { teamQuotas } from '../../controller/teams/team-quotas.ts'
import { DeploymentFleet } from '../../kubernetes/fleet/deployment-fleet.ts'
import type { EventRecorder, Leadership } from '../../ports/kubernetes.ts'
import type { ControllerSettings } from '../../settings/role-settings.ts'
import { quotasOfSettings } from '../../settings/tables/quota-table.ts'
import { createScalingMetrics } from '../../telemetry/scaling-metrics.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Cluster, OpenKind } from './cluster-part.ts'
import type { LazyEngine } from './lazy-engine.ts'
import type { Telemetry } from './telemetry-part.ts'

/** Scales the executors whenever this process leads. */
export function startScaling(
  settings: ControllerSettings,
  parts: {
    readonly telemetry: Telemetry
    readonly engine: LazyEngine
    readonly cluster: Cluster
    readonly leadership: Leadership
    readonly events: EventRecorder
    readonly teams: OpenKind<TeamSettings>
  },
): void {
  const { logger, registry } = parts.telemetry
  const sources = { teams: parts.teams.informer, quotas: quotasOfSettings(settings) }
  const options: ScalingOptions = {
    backlog: parts.engine.backlog,
    callQuotaOf: (team) => teamQuotas(team, sources).callsInFlight,
    hints: parts.engine.hints,
    fleet: new DeploymentFleet({
      transport: parts.cluster.transport,
      clock: systemClock,
      logger,
      namespace: settings.podNamespace,
      deployment: settings.executorDeployment,
    }),
    leadership: parts.leadership,
    events: parts.events,
    metrics: createScalingMetrics(registry),
    clock: systemClock,
    logger,
    settings: {
      mode: settings.scalingMode,
      min: settings.scalingMin,
      max: settings.scalingMax,
      callsPerPod: settings.scalingCallsPerPod,
      downMs: settings.scalingDownSeconds * 1000,
    },
  }
  parts.leadership.onLead((signal) => new Scaling(options, signal).run())
}
