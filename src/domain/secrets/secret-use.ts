/**
 * A purpose for which a Secret may be used: its owner states it by the Secret's type or a label. Otherwise whoever may
 * edit a resource could have any Secret of the namespace sent to a target, without the right to read it.
 */
export type SecretUse = 'signing' | 'header'

export const SECRET_USE_LABEL = 'punctual.dev/secret'

export function secretTypeOf(use: SecretUse): string {
  return `punctual.dev/${use}-secret`
}

/** What the owner of a Secret says about its use. */
export interface SecretMarks {
  readonly type: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export function isSecretFor(use: SecretUse, { type, labels }: Pick<SecretMarks, 'type' | 'labels'>): boolean {
  return type === secretTypeOf(use) || labels[SECRET_USE_LABEL] === use
}

/** Why a Secret cannot be used, as the rest of a sentence about it. */
export function notForText(use: SecretUse): string {
  return `is not for this: give it type ${secretTypeOf(use)}, or the label ${SECRET_USE_LABEL}=${use}.`
}
