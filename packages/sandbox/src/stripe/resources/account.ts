import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import { ACCOUNT_ID } from '../wire/account-id.ts'
import { createFaultWithStatus } from '../wire/errors.ts'
import type { WireFormat } from '../wire/wire.ts'
import type { WireObject } from '../wire/wire-object.ts'

/** The sandbox's single account. It is not a platform and has no connected accounts. */
const ACCOUNT: Omit<WireFormat<Stripe.Account>, 'external_accounts'> & {
  external_accounts: object
} = {
  id: ACCOUNT_ID,
  object: 'account',
  business_profile: {
    annual_revenue: null,
    estimated_worker_count: null,
    mcc: null,
    minority_owned_business_designation: null,
    name: 'Tollgate sandbox',
    specified_commercial_transactions_act_url: null,
    support_address: null,
    support_email: null,
    support_phone: null,
    support_url: null,
    url: null,
  },
  business_type: null,
  capabilities: { card_payments: 'active', transfers: 'active' },
  charges_enabled: true,
  controller: { type: 'account' },
  country: 'US',
  created: Date.UTC(2020, 0, 1) / 1000,
  default_currency: 'usd',
  details_submitted: true,
  email: 'sandbox@example.com',
  external_accounts: {
    object: 'list',
    data: [],
    has_more: false,
    url: `/v1/accounts/${ACCOUNT_ID}/external_accounts`,
  },
  future_requirements: nothingRequired(),
  metadata: {},
  payouts_enabled: false,
  requirements: nothingRequired(),
  settings: {
    branding: { icon: null, logo: null, primary_color: null, secondary_color: null },
    card_payments: {
      decline_on: { avs_failure: false, cvc_failure: false },
      statement_descriptor_prefix: null,
      statement_descriptor_prefix_kana: null,
      statement_descriptor_prefix_kanji: null,
    },
    dashboard: { display_name: 'Tollgate sandbox', timezone: 'Etc/UTC' },
    invoices: { default_account_tax_ids: null, hosted_payment_method_save: null },
    payments: {
      statement_descriptor: 'TOLLGATE SANDBOX',
      statement_descriptor_kana: null,
      statement_descriptor_kanji: null,
      statement_descriptor_prefix_kana: null,
      statement_descriptor_prefix_kanji: null,
    },
    payouts: {
      debit_negative_balances: true,
      schedule: { delay_days: 2, interval: 'manual' },
      statement_descriptor: null,
    },
  },
  tos_acceptance: { date: null, ip: null, user_agent: null },
  type: 'standard',
}

function nothingRequired() {
  return {
    alternatives: [],
    current_deadline: null,
    currently_due: [],
    disabled_reason: null,
    errors: [],
    eventually_due: [],
    past_due: [],
    pending_verification: [],
  }
}

export const accountOperations: StripeOperations = {
  'Accounts.retrieveCurrent': () => ACCOUNT,

  'Accounts.retrieve': (_params, { id }) => {
    if (id === ACCOUNT.id) return ACCOUNT
    throw createFaultWithStatus(
      403,
      `The provided key does not have access to account '${id}' (or that account does not exist). Application access may have been revoked.`,
      'account_invalid',
    )
  },

  'Accounts.list': (params, { path }) => listPage<WireObject>([], params, path, (row) => row),
}
