import type { PaymentIntentRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'

/** Values shared by all intents. Never changed in place. */
const SHARED_VALUES = {
  amountDetails: { tip: {} },
  methodOptions: {
    card: {
      installments: null,
      mandate_options: null,
      network: null,
      request_three_d_secure: 'automatic',
    },
  },
  methodTypes: ['card'],
}

export interface NewPaymentIntent {
  readonly amount: number
  readonly currency: string
  readonly customer: string | null
  readonly description: string | null
  readonly invoice: string | null
}

export function createPaymentIntentRow(
  work: UnitOfWork,
  options: NewPaymentIntent,
): PaymentIntentRow {
  const id = work.newId('pi_3')
  const intent: PaymentIntentRow = {
    allowed_payment_method_types: null,
    application: null,
    application_fee_amount: null,
    canceled_at: null,
    cancellation_reason: null,
    customer_account: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    managed_payments: null,
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    transfer_group: null,
    id,
    object: 'payment_intent',
    amount: options.amount,
    amount_capturable: 0,
    amount_details: SHARED_VALUES.amountDetails,
    amount_received: 0,
    automatic_payment_methods: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_secret_${work.context.store.randomText(25)}`,
    confirmation_method: 'automatic',
    created: work.sandboxNow,
    currency: options.currency,
    customer: options.customer,
    description: options.description,
    livemode: false,
    metadata: {},
    payment_method_options: SHARED_VALUES.methodOptions,
    payment_method_types: SHARED_VALUES.methodTypes,
    setup_future_usage: options.invoice ? 'off_session' : null,
    status: 'requires_payment_method',
    $: {
      invoice: options.invoice,
      offSession: false,
      returnUrl: null,
      authenticated: false,
      checkout: null,
    },
  }
  return work.insert('payment_intent', intent, 'payment_intent.created')
}
