import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { findMerchantAccount } from '../state/context.ts'
import { ErrorCollector } from '../wire/errors.ts'
import { Fields, permitted } from '../wire/validation.ts'

const PATH = ['client_token']
const KEYS = permitted(
  'address_id customer_id merchant_account_id options payment_method_id proxy_merchant_id version domains',
)

/** Options that mean nothing without a customer. */
const NEEDS_CUSTOMER = [
  ['make_default', '92801'],
  ['verify_card', '92802'],
  ['fail_on_duplicate_payment_method', '92803'],
] as const

function generate({ context, body }: Call): OperationResponse {
  const fields = new Fields(body).object('client_token')
  fields.permit(KEYS)
  const errors = new ErrorCollector()
  const customerId = fields.text('customer_id')
  if (customerId !== null && !context.tables.customers.has(customerId))
    errors.add(PATH, 'customer_id', '92804')
  const account = findMerchantAccount(context, fields.text('merchant_account_id'))
  if (!account) errors.add(PATH, 'merchant_account_id', '92807')
  const version = fields.integer('version') ?? 2
  if (![1, 2, 3].includes(version)) errors.add(PATH, 'version', '92806')
  const options = fields.object('options')
  for (const [option, code] of NEEDS_CUSTOMER) {
    if (options.flag(option) && customerId === null) errors.add(PATH, option, code)
  }
  errors.throwIfAny()
  const { merchantId } = context.keys
  const url = `${context.baseUrl}/merchants/${merchantId}/client_api`
  const token = JSON.stringify({
    version,
    authorizationFingerprint: `${context.store.randomText(64)}|customer_id=${customerId ?? ''}`,
    configUrl: `${url}/v1/configuration`,
    clientApiUrl: url,
    merchantId,
    merchantAccountId: account?.id,
    environment: 'development',
    challenges: [],
  })
  const value = version === 1 ? token : Buffer.from(token).toString('base64')
  return { root: 'client_token', value: { value }, status: 201 }
}

/** What a browser needs to make nonces. */
export const clientToken: Operations = { 'POST /': generate }
