/** How a field can be asked for: tokens by their whole, strings by a part as well, numbers by more or less. */
export type FieldType = 'token' | 'string' | 'numeric'

interface SearchField {
  readonly type: FieldType
  /** Where it stands in the object, where it is called otherwise. */
  readonly path?: string
}

const TOKEN: SearchField = { type: 'token' }
const STRING: SearchField = { type: 'string' }
const NUMERIC: SearchField = { type: 'numeric' }
const at = (path: string): SearchField => ({ ...TOKEN, path })

/** Of whatever was charged: `payment_method_details.card.last4`, `payment_method_details.sepa_debit.last4`. */
const OF_SOURCE = /^payment_method_details\.[a-z][a-z0-9_]*\.([a-z0-9_]+)$/
const SOURCE_FIELDS: Readonly<Record<string, SearchField>> = {
  brand: TOKEN,
  exp_month: NUMERIC,
  exp_year: NUMERIC,
  fingerprint: TOKEN,
  last4: TOKEN,
}

/** By the last part of the resource's URL. https://docs.stripe.com/search#query-fields-for-charges and what follows there. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, SearchField>>>> = {
  charges: {
    amount: NUMERIC,
    'billing_details.address.postal_code': TOKEN,
    created: NUMERIC,
    currency: TOKEN,
    customer: TOKEN,
    disputed: TOKEN,
    metadata: TOKEN,
    refunded: TOKEN,
    status: TOKEN,
  },
  customers: { created: NUMERIC, email: STRING, metadata: TOKEN, name: STRING, phone: STRING },
  invoices: {
    created: NUMERIC,
    currency: TOKEN,
    customer: TOKEN,
    last_finalization_error_code: at('last_finalization_error.code'),
    last_finalization_error_type: at('last_finalization_error.type'),
    metadata: TOKEN,
    number: TOKEN,
    receipt_number: TOKEN,
    status: TOKEN,
    subscription: at('parent.subscription_details.subscription'),
    total: NUMERIC,
  },
  payment_intents: {
    amount: NUMERIC,
    created: NUMERIC,
    currency: TOKEN,
    customer: TOKEN,
    metadata: TOKEN,
    status: TOKEN,
  },
  prices: {
    active: TOKEN,
    currency: TOKEN,
    lookup_key: TOKEN,
    metadata: TOKEN,
    product: TOKEN,
    type: TOKEN,
  },
  products: {
    active: TOKEN,
    description: STRING,
    metadata: TOKEN,
    name: STRING,
    shippable: TOKEN,
    url: STRING,
  },
  subscriptions: { canceled_at: NUMERIC, created: NUMERIC, metadata: TOKEN, status: TOKEN },
}

/** Undefined for what cannot be searched by. */
export function findSearchField(resource: string, name: string): SearchField | undefined {
  const ofSource = resource === 'charges' ? OF_SOURCE.exec(name)?.[1] : undefined
  if (ofSource !== undefined) return own(SOURCE_FIELDS, ofSource)
  return own(FIELDS[resource] ?? {}, name)
}

function own(fields: Readonly<Record<string, SearchField>>, name: string): SearchField | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}
