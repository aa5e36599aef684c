import type Stripe from 'stripe'
import type { SetupIntentRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { nulls } from '../wire/wire.ts'

export function newSetupIntent(
  work: UnitOfWork,
  options: { customer: string | null; usage: string; subscription?: string },
): SetupIntentRow {
  const id = work.newId('seti_1')
  const intent: SetupIntentRow = {
    ...nulls<Stripe.SetupIntent>('setup_intent'),
    id,
    object: 'setup_intent',
    client_secret: `${id}_secret_${work.context.store.randomText(25)}`,
    created: work.sandboxNow,
    customer: options.customer,
    customer_account: null,
    flow_directions: null,
    livemode: false,
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
