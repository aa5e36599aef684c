import braintree from 'braintree'
import { describe, expect, it } from 'vitest'
import { addCustomer, codesOf, type Merchant, startMerchant } from './support.ts'

type Given = { merchant: Merchant; token: string; customerId: string }
type Attempt = (given: Given) => Promise<unknown>

const create =
  (params: object): Attempt =>
  ({ merchant, token }) =>
    merchant.gateway.subscription.create({
      planId: 'monthly',
      paymentMethodToken: token,
      ...params,
    } as never)

const update =
  (params: object): Attempt =>
  async (given) => {
    await create({ id: 's' })(given)
    return given.merchant.gateway.subscription.update('s', params as never)
  }

const sale =
  (params: object): Attempt =>
  ({ merchant, token }) =>
    merchant.gateway.transaction.sale({
      amount: '1.00',
      paymentMethodToken: token,
      ...params,
    } as never)

const customer =
  (params: object): Attempt =>
  ({ merchant }) =>
    merchant.gateway.customer.create(params as never)

const method =
  (params: object): Attempt =>
  ({ merchant, customerId }) =>
    merchant.gateway.paymentMethod.create({
      customerId,
      paymentMethodNonce: 'fake-valid-nonce',
      ...params,
    } as never)

const pastDue =
  (params: object): Attempt =>
  async (given) => {
    const { merchant, token } = given
    await create({ id: 's' })(given)
    merchant.sandbox.failCharges(token, '2001')
    await merchant.clock.advance({ months: 1 })
    return merchant.gateway.subscription.update('s', params as never)
  }

const over =
  (how: 'cancel' | 'expire', then: (given: Given) => Promise<unknown>): Attempt =>
  async (given) => {
    const { gateway, clock } = given.merchant
    await create({ id: 's', numberOfBillingCycles: 1 })(given)
    if (how === 'cancel') await gateway.subscription.cancel('s')
    else await clock.advance({ months: 2 })
    return then(given)
  }

const cancelAgain = ({ merchant }: Given) => merchant.gateway.subscription.cancel('s')
const editPrice = ({ merchant }: Given) => merchant.gateway.subscription.update('s', { price: '1' })

const add = (item: object, list = 'discounts') => ({ [list]: { add: [item] } })

const TABLE: ReadonlyArray<readonly [name: string, attempt: Attempt, codes: readonly string[]]> = [
  // Customers
  ['an e-mail without an @', customer({ email: 'ada' }), ['81604']],
  ['a first name of 256 letters', customer({ firstName: 'x'.repeat(256) }), ['81608']],
  ['a customer id with a space', customer({ id: 'a b' }), ['91610']],
  ['a customer id of 37 letters', customer({ id: 'x'.repeat(37) }), ['91612']],
  ['a reserved customer id', customer({ id: 'all' }), ['91611']],
  ['a custom field nobody defined', customer({ customFields: { shoe: '42' } }), ['91602']],
  ['an unknown nonce', customer({ paymentMethodNonce: 'nope' }), ['91732']],
  ['a consumed nonce', customer({ paymentMethodNonce: 'fake-consumed-nonce' }), ['91731']],
  [
    'a card number that fails the check',
    customer({ paymentMethodNonce: 'fake-luhn-invalid-nonce' }),
    ['81715'],
  ],
  [
    'a card number of 11 digits',
    customer({ creditCard: { number: '41111111111', expirationDate: '05/2030' } }),
    ['81716'],
  ],
  [
    'a real card number',
    customer({ creditCard: { number: '4012001037141112', expirationDate: '05/2030' } }),
    ['81717'],
  ],
  [
    'the expiration month 13',
    customer({ creditCard: { number: '4111111111111111', expirationDate: '13/2030' } }),
    ['81710'],
  ],
  ['a card without a date', customer({ creditCard: { number: '4111111111111111' } }), ['81709']],
  ['a customer id in use', async (given) => customer({ id: given.customerId })(given), ['91609']],
  // Payment methods
  ['no customer', method({ customerId: undefined }), ['93104']],
  ['an unknown customer', method({ customerId: 'nobody' }), ['93105']],
  ['no nonce', method({ paymentMethodNonce: undefined }), ['93103']],
  ['an unknown nonce for a method', method({ paymentMethodNonce: 'nope' }), ['93108']],
  [
    'a one-time PayPal account',
    method({ paymentMethodNonce: 'fake-paypal-one-time-nonce' }),
    ['82902'],
  ],
  [
    'a card that is in the vault already',
    method({ options: { failOnDuplicatePaymentMethod: true } }),
    ['81724'],
  ],
  ['a token in use', async (given) => method({ token: given.token })(given), ['91719']],
  [
    'a PayPal account for a card',
    ({ merchant, token }) =>
      merchant.gateway.paymentMethod.update(token, {
        paymentMethodNonce: 'fake-paypal-billing-agreement-nonce',
      } as never),
    ['91738'],
  ],
  [
    "replacing another customer's card",
    async ({ merchant, token }) => {
      const { customer: other } = await merchant.gateway.customer.create({})
      return merchant.gateway.customer.update(other.id, {
        creditCard: {
          paymentMethodNonce: 'fake-valid-nonce',
          options: { updateExistingToken: token },
        },
      } as never)
    },
    ['91723'],
  ],
  // Client token
  [
    'a client token for an unknown customer',
    ({ merchant }) => merchant.gateway.clientToken.generate({ customerId: 'nobody' }),
    ['92804'],
  ],
  // Subscriptions
  ['an unknown plan', create({ planId: 'nope' }), ['91904']],
  ['no plan', create({ planId: undefined }), ['91904']],
  ['an unknown token', create({ paymentMethodToken: 'nope' }), ['91903']],
  ['no payment method', create({ paymentMethodToken: undefined }), ['91903']],
  ['a subscription id with a dot', create({ id: 'a.b' }), ['81906']],
  ['an unknown merchant account', create({ merchantAccountId: 'nope' }), ['91901']],
  ['a price of words', create({ price: '9.2.1 apples' }), ['81904']],
  ['a blank price', create({ price: '' }), ['81903']],
  ['a negative price', create({ price: '-1.00' }), ['81904']],
  ['a price of 11 digits', create({ price: '99999999999.00' }), ['81923']],
  ['float noise in a price', create({ price: 0.1 + 0.2 }), ['81904']],
  ['no billing cycles', create({ numberOfBillingCycles: 0 }), ['91907']],
  ['cycles in words', create({ numberOfBillingCycles: 'many' }), ['91906']],
  ['cycles that never end', create({ numberOfBillingCycles: 3, neverExpires: true }), ['91908']],
  ['an end without cycles', create({ neverExpires: false }), ['91912']],
  ['a trial without a length', create({ trialPeriod: true }), ['81908', '81909']],
  [
    'a trial in weeks',
    create({ trialPeriod: true, trialDuration: 2, trialDurationUnit: 'week' }),
    ['81909'],
  ],
  ['a first billing date in the past', create({ firstBillingDate: '2026-01-14' }), ['91916']],
  [
    'a first billing date that does not exist',
    create({ firstBillingDate: '2026-02-30' }),
    ['91915'],
  ],
  ['billing on the 29th', create({ billingDayOfMonth: 29 }), ['91914']],
  ['billing on a weekday', create({ billingDayOfMonth: 'monday' }), ['91913']],
  ['two starts', create({ billingDayOfMonth: 5, firstBillingDate: '2026-02-01' }), ['91917']],
  ['a discount nobody defined', create(add({ inheritedFromId: 'nope' })), ['92013']],
  ['a discount without an id', create(add({ amount: '1.00' })), ['92014']],
  ['an add-on among the discounts', create(add({ inheritedFromId: 'seats' })), ['92013']],
  ['a discount in words', create(add({ inheritedFromId: 'loyal', amount: 'much' })), ['92002']],
  [
    'a discount for 0 cycles',
    create(add({ inheritedFromId: 'loyal', numberOfBillingCycles: 0 })),
    ['92019'],
  ],
  [
    'a quantity below zero',
    create(add({ inheritedFromId: 'seats', quantity: -1 }, 'addOns')),
    ['92001'],
  ],
  [
    'a quantity of zero',
    create(add({ inheritedFromId: 'seats', quantity: 0 }, 'addOns')),
    ['92010'],
  ],
  [
    'the same discount twice',
    create({ discounts: { add: [{ inheritedFromId: 'loyal' }, { inheritedFromId: 'loyal' }] } }),
    ['91911'],
  ],
  [
    'a change of a discount that the subscription does not have',
    create({ discounts: { update: [{ existingId: 'loyal' }] } }),
    ['92011'],
  ],
  ['removing a discount it does not have', create({ discounts: { remove: ['loyal'] } }), ['92016']],
  ['removing a discount nobody defined', create({ discounts: { remove: ['nope'] } }), ['92025']],
  ['a descriptor of the wrong shape', create({ descriptor: { name: 'toolong*' } }), ['92201']],
  [
    'a subscription id in use',
    async (given) => {
      await create({ id: 's' })(given)
      return create({ id: 's' })(given)
    },
    ['81902'],
  ],
  [
    "another customer's card",
    async (given) => {
      const { token } = await addCustomer(given.merchant)
      return update({ paymentMethodToken: token })(given)
    },
    ['91905'],
  ],
  ['an update to an unknown plan', update({ planId: 'nope' }), ['91904']],
  ['an update to another frequency', update({ planId: 'yearly' }), ['91922']],
  ['a new billing day', update({ billingDayOfMonth: 3 }), ['91918']],
  ['a new first billing date', update({ firstBillingDate: '2026-03-01' }), ['91919']],
  ['an update to 0 cycles', update({ numberOfBillingCycles: 0 }), ['91907']],
  ['cycles of null alone', update({ numberOfBillingCycles: null }), ['91912']],
  [
    'fewer cycles than have run',
    async (given) => {
      await create({ id: 's' })(given)
      await given.merchant.clock.advance({ months: 3 })
      return given.merchant.gateway.subscription.update('s', { numberOfBillingCycles: 3 })
    },
    ['91909'],
  ],
  ['cancelling twice', over('cancel', cancelAgain), ['81905']],
  ['editing what is cancelled', over('cancel', editPrice), ['81901']],
  ['editing what has expired', over('expire', editPrice), ['81910']],
  ['a price while past due', pastDue({ price: '1.00' }), ['91920']],
  ['a plan while past due', pastDue({ planId: 'pro' }), ['91920']],
  ['a discount while past due', pastDue(add({ inheritedFromId: 'loyal' })), ['92022']],
  [
    'replacing all discounts while past due',
    pastDue({ options: { replaceAllAddOnsAndDiscounts: true } }),
    ['92022', '92022'],
  ],
  [
    'a retry of a paid subscription',
    async (given) => {
      await create({ id: 's' })(given)
      return given.merchant.gateway.subscription.retryCharge('s')
    },
    ['91531'],
  ],
  [
    'a retry of an unknown subscription',
    ({ merchant }) => merchant.gateway.subscription.retryCharge('nope'),
    ['91528'],
  ],
  // Transactions
  ['no amount', sale({ amount: undefined }), ['81502']],
  ['an amount of words', sale({ amount: 'shorts' }), ['81503']],
  ['three decimals', sale({ amount: '1.001' }), ['81503']],
  ['an amount of zero', sale({ amount: '0.00' }), ['81531']],
  ['a negative amount', sale({ amount: '-1.00' }), ['81501']],
  ['an amount of 11 digits', sale({ amount: '99999999999.00' }), ['81528']],
  ['a token nobody has', sale({ paymentMethodToken: 'nope' }), ['91518']],
  ['nothing to charge', sale({ paymentMethodToken: undefined }), ['91508']],
  ['a token and a nonce', sale({ paymentMethodNonce: 'fake-valid-nonce' }), ['91515']],
  [
    'an unknown nonce',
    sale({ paymentMethodToken: undefined, paymentMethodNonce: 'nope' }),
    ['91565'],
  ],
  ['an unknown customer', sale({ paymentMethodToken: undefined, customerId: 'nobody' }), ['91510']],
  ['a token of another customer', sale({ customerId: 'nobody' }), ['91516', '91510']],
  ['an undefined custom field', sale({ customFields: { description: 'x' } }), ['91526']],
  ['an unknown merchant account of a sale', sale({ merchantAccountId: 'nope' }), ['91513']],
  ['an unknown source', sale({ transactionSource: 'dream' }), ['915133']],
  ['an order id of 256 letters', sale({ orderId: 'x'.repeat(256) }), ['91501']],
  [
    'more than was authorized',
    async (given) => {
      const { transaction } = (await sale({})(given)) as { transaction: { id: string } }
      return given.merchant.gateway.transaction.submitForSettlement(transaction.id, '1.01')
    },
    ['91522'],
  ],
  [
    'submitting twice',
    async (given) => {
      const submitted = await sale({ options: { submitForSettlement: true } })(given)
      const { transaction } = submitted as { transaction: { id: string } }
      return given.merchant.gateway.transaction.submitForSettlement(transaction.id)
    },
    ['91507'],
  ],
]

describe('parameter validation at Braintree', () => {
  it.each(TABLE)('rejects %s', async (_name, attempt, codes) => {
    const merchant = await startMerchant()
    const given = { merchant, ...(await addCustomer(merchant)) }
    const result = await attempt(given)
    expect(result).toMatchObject({ success: false })
    expect(codesOf(result).sort()).toEqual([...codes].sort())
  })

  it('reports the field of each error, and returns the submitted parameters without card data', async () => {
    const merchant = await startMerchant()
    const { token } = await addCustomer(merchant)
    const result = (await merchant.gateway.subscription.create({
      planId: 'monthly',
      paymentMethodToken: token,
      discounts: { add: [{ inheritedFromId: 'loyal' }, { inheritedFromId: 'nope' }] },
    } as never)) as unknown as {
      params: object
      message: string
      errors: braintree.ValidationErrorsCollection
    }
    expect(result.message).toBe('Inherited from ID is invalid.')
    expect(result.params).toMatchObject({ subscription: { planId: 'monthly' } })
    type Node = { for(name: string): Node; forIndex(i: number): Node; on(name: string): object[] }
    const errors = result.errors as unknown as Node
    const at = errors.for('subscription').for('discounts').for('add').forIndex(1)
    expect(at.on('inheritedFromId')).toMatchObject([{ code: '92013' }])
    const card = { number: '4111111111111112', cvv: '123', expirationDate: '05/2030' }
    const refused = await merchant.gateway.customer.create({ creditCard: card } as never)
    expect(JSON.stringify((refused as unknown as { params: object }).params)).not.toMatch(
      /4111|123/,
    )
  })
})

describe('the Braintree API before it validates parameters', () => {
  const keys = { environment: null as never, merchantId: '', publicKey: '', privateKey: '' }
  it.each([
    ['a wrong public key', { publicKey: 'nobody' }, 'authenticationError'],
    ['a wrong private key', { privateKey: 'guess' }, 'authenticationError'],
    ["another merchant's id", { merchantId: 'other' }, 'authorizationError'],
  ])('rejects a call with %s', async (_name, changes, type) => {
    const { sandbox } = await startMerchant()
    const gateway = new braintree.BraintreeGateway({ ...keys, ...sandbox.config, ...changes })
    await expect(gateway.customer.find('1')).rejects.toMatchObject({ type })
  })

  it('returns 404 for ids that do not exist', async () => {
    const { gateway } = await startMerchant()
    const lost = { type: 'notFoundError' }
    await expect(gateway.customer.find('1')).rejects.toMatchObject(lost)
    await expect(gateway.customer.update('1', {})).rejects.toMatchObject(lost)
    await expect(gateway.customer.delete('1')).rejects.toMatchObject(lost)
    await expect(gateway.paymentMethod.find('1')).rejects.toMatchObject(lost)
    await expect(gateway.paymentMethod.delete('1')).rejects.toMatchObject(lost)
    await expect(gateway.subscription.find('1')).rejects.toMatchObject(lost)
    await expect(gateway.subscription.update('1', {} as never)).rejects.toMatchObject(lost)
    await expect(gateway.subscription.cancel('1')).rejects.toMatchObject(lost)
    await expect(gateway.transaction.find('1')).rejects.toMatchObject(lost)
    await expect(gateway.transaction.void('1')).rejects.toMatchObject(lost)
    await expect(gateway.transaction.refund('1')).rejects.toMatchObject(lost)
    await expect(gateway.testing.settle('1')).rejects.toMatchObject(lost)
  })

  it('returns 403 for a parameter that Braintree does not know', async () => {
    const merchant = await startMerchant()
    const { token } = await addCustomer(merchant)
    const attempt = merchant.gateway.subscription.create({
      planId: 'monthly',
      paymentMethodToken: token,
      quantity: 2,
    } as never)
    await expect(attempt).rejects.toMatchObject({ type: 'authorizationError' })
  })

  const RAW: ReadonlyArray<readonly [method: string, path: string, body: string, status: number]> =
    [
      ['POST', '/customers', '{', 400],
      ['POST', '/customers', '"customer"', 400],
      ['POST', '/customers', '[]', 400],
      ['POST', '/customers', '{"customer":7}', 400],
      ['POST', '/customers', '{"customer":{"first_name":{"a":1}}}', 400],
      ['POST', '/customers', '{"customer":{"credit_card":[]}}', 400],
      ['POST', '/customers', `{"customer":${'['.repeat(5000)}${']'.repeat(5000)}}`, 400],
      ['POST', '/customers', '{"customer":{"__proto__":{"id":"x"},"id":"constructor"}}', 403],
      ['POST', '/customers', '{"customer":{"constructor":1}}', 403],
      ['POST', '/payment_methods', '{}', 422],
      ['POST', '/subscriptions', '', 422],
      ['POST', '/subscriptions', '{"subscription":{"discounts":{"add":"x"}}}', 422],
      ['POST', '/transactions', '{"transaction":null}', 422],
      ['POST', '/transactions', '{"transaction":{"type":"credit","amount":"1.00"}}', 422],
      ['POST', '/transactions', '{"transaction":{"type":"gift","a b":1}}', 403],
      ['POST', '/transactions/advanced_search_ids', '{"search":{"nope":{"is":"x"}}}', 403],
      ['POST', '/transactions/advanced_search_ids', '{"search":{"created_at":{"min":"x"}}}', 400],
      ['POST', '/transactions/advanced_search_ids', '{"search":{"id":{"like":"x"}}}', 400],
      ['POST', '/transactions/advanced_search_ids', '{"search":{"ids":"x"}}', 400],
      ['POST', '/transactions/advanced_search', '{"search":{"ids":"x"}}', 400],
      ['GET', '/nope', '', 404],
      ['PATCH', '/customers/1', '{}', 404],
      ['GET', '/customers/1/2/3', '', 404],
      ['GET', '/customers/%00', '', 404],
      ['GET', '', '', 404],
    ]

  it.each(RAW)(
    'responds to %s %s with the body %s with the status %i',
    async (method, path, body, status) => {
      const { sandbox } = await startMerchant()
      const { url, config } = sandbox
      const auth = Buffer.from(`${config.publicKey}:${config.privateKey}`).toString('base64')
      const response = await fetch(`${url}/merchants/${config.merchantId}${path}`, {
        method,
        headers: { authorization: `Basic ${auth}`, 'content-type': 'application/json' },
        ...(body === '' ? {} : { body }),
      })
      expect(response.status).toBe(status)
    },
  )

  it.each([undefined, '', 'Basic', 'Basic %%%', 'Bearer x', 'Basic eDp5'])(
    'rejects the authorization header %s',
    async (authorization) => {
      const { sandbox } = await startMerchant()
      const headers = authorization === undefined ? {} : { authorization }
      const url = `${sandbox.url}/merchants/${sandbox.config.merchantId}/plans`
      expect((await fetch(url, { headers })).status).toBe(401)
    },
  )

  it('returns well-formed XML for a parameter whose name has characters that XML does not allow', async () => {
    const { gateway } = await startMerchant()
    const { customer } = await gateway.customer.create({
      firstName: 'A\u0000\u0008<&>"\'\ud800B',
      lastName: '名前 😀',
    })
    expect(customer).toMatchObject({ firstName: 'A<&>"\'\ufffdB', lastName: '名前 😀' })
  })
})
