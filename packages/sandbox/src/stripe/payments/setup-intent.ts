import { createBlankRow } from '../state/blank.ts'
import type { SetupIntentRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'

export function createSetupIntentRow(
  work: UnitOfWork,
  options: { customer: string | null; usage: string; subscription?: string },
): SetupIntentRow {
  const id = work.newId('seti_1')
  const intent: SetupIntentRow = {
    ...createBlankRow('setup_intent'),
    id,
    client_secret: `${id}_secret_${work.context.store.randomText(25)}`,
    created: work.sandboxNow,
    customer: options.customer,
    customer_account: null,
    flow_directions: null,
    metadata: {},
    managed_payments: null,
    payment_method_types: ['card'],
    status: 'requires_payment_method',
    usage: options.usage,
    $: {
      authenticated: false,
      returnUrl: null,
      subscription: options.subscription ?? null,
      checkout: null,
    },
  } as SetupIntentRow
  return work.insert('setup_intent', intent, 'setup_intent.created')
}
