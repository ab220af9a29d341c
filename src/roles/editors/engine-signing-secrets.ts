import { EditRefusedError } from '../../domain/errors.ts'
import type { SigningSecretStore } from '../../ports/access/signing-secrets.ts'

/** Without resources there is no place for signing secrets: teams have none. */
export function signingSecretsInEngine(): SigningSecretStore {
  return {
    list: () => Promise.resolve([]),
    create: () =>
      Promise.reject(
        new EditRefusedError('This installation keeps no resources, which signing secrets are part of.'),
      ),
    remove: () => Promise.resolve('not_found'),
  }
}
