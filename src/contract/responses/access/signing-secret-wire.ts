import type { SigningSecret } from '../../../domain/access/signing-secret.ts'
import { timestampOrNull } from '../../../domain/timestamp.ts'
import type { SigningSecret as WireSigningSecret } from '../../generated/wire.ts'

/** Without its value. */
export function toWireSigningSecret(
  { id, secretRef: { name, key }, createdAtMs }: SigningSecret,
  isNewest: boolean,
): WireSigningSecret {
  return {
    id,
    is_newest: isNewest,
    created_at: timestampOrNull(createdAtMs),
    secret_ref: { name, key },
  }
}
