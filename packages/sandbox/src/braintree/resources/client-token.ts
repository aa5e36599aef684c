import type { BraintreeApiCall, BraintreeOperations, OperationResponse } from '../api/operation.ts'
import {
  type BraintreeContext,
  findMerchantAccount,
  readMerchantSettings,
} from '../state/context.ts'
import { type ClientAuthorization, writeFingerprint, writeJwt } from '../vault/fingerprints.ts'
import { parsePermittedKeys, RequestFields } from '../wire/validation.ts'

const KEYS = parsePermittedKeys(
  `address_id customer_id domains merchant_account_id options payment_method_id proxy_merchant_id
   version`,
)
const OPTIONS = parsePermittedKeys(
  `make_default verify_card fail_on_duplicate_payment_method
   fail_on_duplicate_payment_method_for_customer`,
)
const MAX_DOMAINS = 5
const NO_DOMAIN = {
  code: '92011',
  message: 'Client token domains must be valid domain names (RFC 1035), e.g. example.com',
}
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i

/** Options that require a customer. */
const NEEDS_CUSTOMER = [
  ['make_default', '92801'],
  ['verify_card', '92802'],
  ['fail_on_duplicate_payment_method', '92803'],
  ['fail_on_duplicate_payment_method_for_customer', '92805'],
] as const

function generate({ context, body }: BraintreeApiCall): OperationResponse {
  const fields = new RequestFields(body).object('client_token')
  fields.permit(KEYS)
  const version = fields.integer('version') ?? 2
  if (![1, 2, 3].includes(version)) fields.addError('version', '92806')
  const authorization = readAuthorization(context, fields)
  fields.throwIfAny()
  const { merchantId } = context.keys
  const url = `${context.baseUrl}/merchants/${merchantId}/client_api`
  // The SDKs call this option `preferred_payment_method_token` but send this name.
  const preferred = fields.text('payment_method_id')
  const token = JSON.stringify({
    version,
    authorizationFingerprint: writeFingerprint(context, authorization),
    configUrl: `${url}/v1/configuration`,
    clientApiUrl: url,
    merchantId,
    merchantAccountId: authorization.merchantAccountId,
    environment: 'development',
    challenges: readMerchantSettings(context).challenges,
    ...(preferred === null ? {} : { paymentMethodIdJwt: writeJwt(context, { pmid: preferred }) }),
  })
  const value = version === 1 ? token : Buffer.from(token).toString('base64')
  return { root: 'client_token', value: { value }, status: 201 }
}

function readAuthorization(context: BraintreeContext, fields: RequestFields): ClientAuthorization {
  const customerId = fields.text('customer_id')
  if (customerId !== null && !context.tables.customers.has(customerId))
    fields.addError('customer_id', '92804')
  const account = findMerchantAccount(context, fields.text('merchant_account_id'))
  if (!account) fields.addError('merchant_account_id', '92807')
  const options = fields.object('options')
  options.permit(OPTIONS)
  for (const [option, code] of NEEDS_CUSTOMER) {
    if (options.flag(option) && customerId === null) fields.addError(option, code)
  }
  return {
    merchantAccountId: account?.id ?? '',
    customerId,
    makeDefault: options.flag('make_default') ?? false,
    verifyCard: options.flag('verify_card') ?? false,
    failOnDuplicate: options.flag('fail_on_duplicate_payment_method') ?? false,
    failOnDuplicateForCustomer:
      options.flag('fail_on_duplicate_payment_method_for_customer') ?? false,
    domains: readDomains(fields),
    createdAt: context.clock.nowMs(),
  }
}

function readDomains(fields: RequestFields): string[] {
  const domains = fields.list('domains').map(String)
  if (domains.length > MAX_DOMAINS) fields.addError('domains', '92810')
  else if (!domains.every((domain) => DOMAIN.test(domain)))
    fields.errors.addWith(fields.path, 'domains', NO_DOMAIN)
  return domains
}

/** Creates client tokens, with which pages create nonces. */
export const clientTokenOperations: BraintreeOperations = { 'POST /': generate }
