import { Page } from '../../ui/page.tsx'

export function AuditLog() {
  return <Page title="Audit log">{null}</Page>
}
