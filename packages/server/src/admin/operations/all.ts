import type { Operation } from '../operation.ts'
import { accessOperations } from './access.ts'
import { auditOperations } from './audit.ts'
import { balanceOperations } from './balances.ts'
import { clientOperations } from './clients.ts'
import { creditNoteOperations } from './credit-notes.ts'
import { deliveryOperations } from './deliveries.ts'
import { disputeOperations } from './disputes.ts'
import { invoiceOperations } from './invoices.ts'
import { keyOperations } from './keys.ts'
import { mailOperations } from './mail.ts'
import { overviewOperations } from './overview.ts'
import { pauseOperations } from './pauses.ts'
import { plannedChangeOperations } from './planned-changes.ts'
import { planOperations } from './plans.ts'
import { quotaOperations } from './quotas.ts'
import { settingOperations } from './settings.ts'
import { subscriptionOperations } from './subscriptions.ts'
import { taxOperations } from './taxes.ts'
import { teamOperations } from './teams.ts'
import { timelineOperations } from './timeline.ts'
import { userOperations } from './users.ts'
import { webhookOperations } from './webhooks.ts'

/** Every operation of operators. The API, the pages and the commands call these and nothing else. */
export const OPERATIONS: readonly Operation[] = [
  ...userOperations,
  ...accessOperations,
  ...timelineOperations,
  ...teamOperations,
  ...clientOperations,
  ...keyOperations,
  ...auditOperations,
  ...subscriptionOperations,
  ...plannedChangeOperations,
  ...pauseOperations,
  ...invoiceOperations,
  ...creditNoteOperations,
  ...disputeOperations,
  ...balanceOperations,
  ...taxOperations,
  ...planOperations,
  ...quotaOperations,
  ...webhookOperations,
  ...deliveryOperations,
  ...mailOperations,
  ...settingOperations,
  ...overviewOperations,
]

const byName = new Map(OPERATIONS.map((operation) => [operation.name as string, operation]))

/**
 * Finds an operation by its name.
 * @throws TypeError for an unknown name, which is a mistake in the code.
 */
export function requireOperation(name: string): Operation {
  const found = byName.get(name)
  if (!found) throw new TypeError(`There is no operation ${name}`)
  return found
}
