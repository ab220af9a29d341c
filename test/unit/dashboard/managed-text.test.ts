import { expect, test } from 'vitest'
import { managerText, whyNoEdit } from '../../../dashboard/src/editing/managed-text.ts'

test('a manager is named, and an edit is refused where it would be undone', () => {
  const argo = { tool: 'argo_cd', name: 'shop', read_only: false } as const
  expect(managerText(argo)).toBe('Argo CD (shop)')
  expect(whyNoEdit(argo)).toBe(
    'Argo CD (shop) manages it and would undo an edit: change its manifest in Git.',
  )
  expect(whyNoEdit({ tool: 'helm', name: 'r', read_only: false })).toBe(
    'Helm (r) manages it and would undo an edit: change the values of its release.',
  )
  expect(managerText({ tool: 'other', name: 'terraform', read_only: false })).toBe('terraform')
  expect(whyNoEdit({ tool: 'other', name: 'terraform', read_only: false })).toContain('terraform manages it')
})

test('what kubectl has applied may be edited, as may what nobody manages', () => {
  const kubectl = { tool: 'kubectl', name: 'kubectl-client-side-apply', read_only: false } as const
  expect(managerText(kubectl)).toBe('kubectl apply')
  expect([whyNoEdit(kubectl), whyNoEdit(null)]).toEqual([null, null])
  expect(whyNoEdit({ ...kubectl, read_only: true })).toBe(
    'kubectl apply manages it and would undo an edit: change its manifest.',
  )
})
