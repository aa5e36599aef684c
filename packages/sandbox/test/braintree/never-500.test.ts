import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addCustomer, startMerchant } from './support.ts'

const PATHS = [
  'POST /client_token',
  'POST /customers',
  'PUT /customers/ada',
  'POST /customers/advanced_search_ids',
  'POST /payment_methods',
  'PUT /payment_methods/any/tok',
  'POST /plans',
  'PUT /plans/monthly',
  'POST /subscriptions',
  'PUT /subscriptions/s',
  'POST /subscriptions/advanced_search_ids',
  'POST /transactions',
  'PUT /transactions/TX/submit_for_settlement',
  'PUT /transactions/TX/void',
  'POST /transactions/TX/refund',
  'POST /transactions/TX/submit_for_partial_settlement',
  'PUT /transactions/TX/update_details',
  'PUT /transactions/TX/adjust_authorization',
  'POST /transactions/TX/clone',
  'POST /customers/ada/addresses',
  'POST /verifications',
  'POST /verifications/advanced_search_ids',
  'POST /payment_methods/all/expiring_ids?start=012026&end=122026',
  'POST /client_api/v1/payment_methods/credit_cards',
  'POST /client_api/v1/payment_methods/fake-valid-nonce/three_d_secure/lookup',
  'POST /client_api/v1/payment_methods/fake-valid-nonce/three_d_secure/authenticate_from_jwt',
  'POST /client_api/v1/paypal_hermes/setup_billing_agreement',
  'POST /client_api/v1/payment_methods/paypal_accounts',
  'POST /transactions/advanced_search_ids',
  'POST /transactions/advanced_search',
]

/** Names that the server reads, so that random values reach the code behind them. */
const NAMES = `id plan_id price payment_method_token payment_method_nonce customer_id options amount
  type trial_period trial_duration trial_duration_unit number_of_billing_cycles never_expires
  first_billing_date billing_day_of_month discounts add_ons add update remove inherited_from_id
  existing_id quantity descriptor name phone url credit_card number expiration_date cvv custom_fields
  email first_name order_id api_request_key subscription_id token make_default prorate_charges
  status created_at is min max in ids billing_frequency currency_iso_code billing_address country_name
  postal_code international_phone line_items kind unit_amount total_amount shipping external_vault
  three_d_secure_pass_thru network paypal_account tax_identifiers risk_data domains verify_card
  update_existing_token credit_card_number`.split(/\s+/)

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>('monthly', 'tok', 's', 'loyal', 'fake-valid-nonce', 'sale', '1.00'),
    fc.constantFrom<unknown>(null, true, false, '', 0, -1, 1e21, 'x'.repeat(300), '2026-02-30'),
    fc.string(),
    fc.integer(),
    fc.double(),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('any'), { maxKeys: 6 }),
  ),
})).any

const body = fc.tuple(
  fc.constantFrom(
    'customer',
    'payment_method',
    'credit_card',
    'plan',
    'subscription',
    'transaction',
    'search',
    'client_token',
    'transaction_clone',
    'address',
    'verification',
    'paypal_account',
  ),
  fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 8 }),
)

describe('random requests to the Braintree server', () => {
  it("get a response in Braintree's format and never crash the server", async () => {
    const merchant = await startMerchant()
    const { sandbox, gateway, clock } = merchant
    await addCustomer(merchant)
    await gateway.customer.create({
      id: 'ada',
      creditCard: { token: 'tok', number: '4111111111111111', expirationDate: '12/2030' },
    } as never)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: 'tok' })
    const { transaction } = await gateway.transaction.sale({
      amount: '5.00',
      paymentMethodToken: 'tok',
    })
    const { publicKey, privateKey, merchantId } = sandbox.config
    const auth = Buffer.from(`${publicKey}:${privateKey}`).toString('base64')
    const { clientToken } = await gateway.clientToken.generate({ customerId: 'ada' })
    const page = JSON.parse(Buffer.from(clientToken, 'base64').toString())
    const { authorizationFingerprint } = page as { authorizationFingerprint: string }
    const headers = { authorization: `Basic ${auth}`, 'content-type': 'application/json' }
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), body, async (route, [root, fields]) => {
        const [method = '', path = ''] = route.replace('TX', transaction.id).split(' ')
        const response = await fetch(`${sandbox.url}/merchants/${merchantId}${path}`, {
          method,
          headers,
          body: JSON.stringify({ authorizationFingerprint, [root]: fields }),
        })
        expect([200, 201, 400, 403, 404, 422]).toContain(response.status)
        await response.text()
      }),
      { numRuns: 1200, seed: 20260115 },
    )
    // The stored objects can still be billed.
    await clock.advance({ months: 2 })
  })
})
