import type { OidcLogin } from '../../api/sessions/oidc-routes.ts'
import { type GroupRoles, permissionsIn, teamsOf } from '../../domain/access/group-roles.ts'
import { userPrincipal } from '../../domain/access/user-principal.ts'
import type { UserAuthorizer } from '../../ports/access/user-verifier.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { LoginSettings } from '../../settings/tables/login-table.ts'
import { systemClock } from '../../telemetry/system-clock.ts'

type OidcSettings = Omit<LoginSettings, 'kubernetesUsers' | 'kubernetesAudience'>

/**
 * Logins by OIDC where they are set up.
 * @param cluster says what users may do unless a map of groups does; null = there is none
 */
export async function openOidc(
  settings: OidcSettings,
  cluster: UserAuthorizer | null,
  logger: Logger,
): Promise<{ readonly oidc?: OidcLogin }> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, publicUrl } = settings
  const authorizer = settings.oidcGroupRoles === null ? cluster : byGroups(settings.oidcGroupRoles)
  if (
    issuer === null ||
    clientId === null ||
    clientSecret === null ||
    publicUrl === null ||
    authorizer === null
  ) {
    return {}
  }
  // Only here, because most installations never need its packages.
  const { createOidcLogin } = await import('../../oidc/oidc-login.ts')
  const client = {
    issuer,
    clientId,
    clientSecret,
    scopes: settings.oidcScopes,
    // The path of the public URL is the base path.
    redirectUrl: `${publicUrl}/api/login/oidc/callback`,
    userClaim: settings.oidcUserClaim,
    groupsClaim: settings.oidcGroupsClaim,
    userPrefix: settings.oidcUserPrefix,
    groupsPrefix: settings.oidcGroupsPrefix,
  }
  const provider = createOidcLogin(client, { clock: systemClock, logger })
  return { oidc: { name: new URL(issuer).host, provider, authorizer } }
}

function byGroups(roles: GroupRoles): UserAuthorizer {
  return {
    admitUser: async (user, { team: named }) => {
      const teams = teamsOf(roles, user)
      const team = named ?? (teams.length === 1 ? teams[0] : undefined)
      if (team === undefined) return { kind: teams.length === 0 ? 'no_team' : 'team_needed' }
      const permissions = permissionsIn(roles, user, team)
      if (permissions.size === 0) return { kind: 'no_team' }
      return { kind: 'admitted', principal: userPrincipal(team, user.username, permissions) }
    },
  }
}
