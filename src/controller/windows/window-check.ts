import type { WindowSettings } from '../../domain/windows/maintenance-window.ts'
import type { MaintenanceWindowSpec } from '../../resources/generated/kinds.ts'
import { settingsOfWindowSpec, windowProblemsOf } from '../../resources/window-spec.ts'
import type { MaintenanceWindow } from '../kinds.ts'
import { createSpecCheck, orRefused, problemText } from '../reconcile/spec-check.ts'

/** Answers the settings that a resource asks for, or a sentence that says what is wrong with it. */
export type WindowCheck = (
  window: MaintenanceWindow,
) => { readonly settings: WindowSettings } | { readonly problem: string }

const FIELDS = ['action', 'resource', 'start', 'end', 'recurring', 'reason']

/** Also finds what no rule of a CRD can: dates that never come, and time zones that do not exist. */
export function createWindowCheck(): WindowCheck {
  const check = createSpecCheck<MaintenanceWindowSpec>('maintenancewindows.punctual.dev.yaml', FIELDS)
  return orRefused((window: MaintenanceWindow) => {
    const checked = check(window)
    if ('problem' in checked) return checked
    const [problem] = windowProblemsOf(checked.spec)
    return problem === undefined
      ? { settings: settingsOfWindowSpec(checked.spec) }
      : { problem: problemText(problem) }
  })
}
