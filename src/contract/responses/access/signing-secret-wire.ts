import type { SigningSecret } from '../../../domain/access/signing-secret.ts'
import { timestampOrNull } from '../../../domain/timestamp.ts'
import type { SigningSecret as WireSigningSecret } from '../../../../clients/typescript/src/generated/wire.ts'

/** The signing secret as shown: without its value. */
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
