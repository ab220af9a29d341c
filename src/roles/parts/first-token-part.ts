import { hash } from 'node:crypto'
import { firstTokenNamespace, keepFirstToken } from '../../controller/teams/first-token.ts'
import type { ApiToken } from '../../controller/kinds.ts'
import type { Leadership, ResourceWriter } from '../../ports/kubernetes.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { ControllerSettings } from '../../settings/role-settings.ts'
import { systemClock } from '../../telemetry/system-clock.ts'

/** Writes the ApiToken of PUNCTUAL_TOKEN, if that is set, whenever this process begins to lead. */
export function leadFirstToken(
  settings: Pick<ControllerSettings, 'token' | 'podNamespace' | 'watchNamespaces'>,
  parts: {
    readonly leadership: Leadership
    readonly writer: ResourceWriter<ApiToken>
    readonly logger: Logger
  },
): void {
  if (settings.token === null) return
  const options = {
    sha256: hash('sha256', settings.token, 'hex'),
    namespace: firstTokenNamespace(settings.podNamespace, settings.watchNamespaces),
    writer: parts.writer,
    clock: systemClock,
    logger: parts.logger,
  }
  parts.leadership.onLead((signal) => keepFirstToken(options, signal))
}
