import type { FormProps } from '../../../editing/edit-dialog.tsx'
import { mistakesOf } from '../../../ui/forms/field.tsx'
import type { SettingsDraft } from './settings.ts'

export type FieldsProps = FormProps<SettingsDraft>

/** A value of the draft by its key, with what the server says of it. */
export function bound({ draft, fault, onChange }: FieldsProps) {
  return <Key extends keyof SettingsDraft>(key: Key, name: string) => ({
    value: draft[key],
    mistakes: mistakesOf(fault, name),
    onChange: (value: SettingsDraft[Key]) => onChange({ ...draft, [key]: value }),
  })
}
