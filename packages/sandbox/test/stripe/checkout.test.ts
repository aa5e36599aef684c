import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { openPage, readAlert, readRowAmount, submit } from './page-forms.ts'
import { catchStripeError, START, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

const SUCCESS = 'https://shop.example/done?s={CHECKOUT_SESSION_ID}'

async function startShop() {
  const setup = await startStripeSandbox()
  const prices = await seedPrices(setup.stripe)
  const open = (params: Stripe.Checkout.SessionCreateParams) =>
    setup.stripe.checkout.sessions.create({ success_url: SUCCESS, ...params })
  return { ...setup, ...prices, open }
}

const MUG = {
  price_data: { currency: 'usd', unit_amount: 1250, product_data: { name: 'Mug' } },
  quantity: 2,
}

describe('one-time payments in Stripe Checkout', () => {
  it('sell items with inline prices (price_data) to a guest', async () => {
    const { open, stripe, sandbox } = await startShop()
    const session = await open({
      mode: 'payment',
      line_items: [MUG],
      payment_intent_data: { description: 'Two mugs', metadata: { order: '7' } },
    })
    expect(session).toMatchObject({ amount_total: 2500, customer_creation: 'if_required' })
    const page = await openPage(session.url)
    expect(page.text).toContain('2 × Mug')
    const done = await submit(session.url, { email: 'eve@example.com', card: 'pm_card_visa' })
    expect(done.location).toBe(`https://shop.example/done?s=${session.id}`)
    const complete = await stripe.checkout.sessions.retrieve(session.id, {
      expand: ['payment_intent'],
    })
    expect(complete).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      customer: null,
      customer_details: { email: 'eve@example.com' },
      invoice: null,
      payment_intent: {
        amount: 2500,
        customer: null,
        description: 'Two mugs',
        metadata: { order: '7' },
        status: 'succeeded',
      },
    })
    expect(sandbox.stripe.customers()).toEqual([])
  })

  it('create a customer on request, and save the card only with setup_future_usage', async () => {
    const { open, stripe, sandbox } = await startShop()
    const once = await open({ mode: 'payment', line_items: [MUG], customer_creation: 'always' })
    sandbox.stripe.completeCheckout(once.id, { email: 'eve@example.com', name: 'Eve' })
    const { customer } = await stripe.checkout.sessions.retrieve(once.id)
    expect(sandbox.stripe.customer(String(customer))).toMatchObject({
      email: 'eve@example.com',
      name: 'Eve',
    })
    expect((await stripe.customers.listPaymentMethods(String(customer))).data).toEqual([])
    const kept = await open({
      mode: 'payment',
      line_items: [MUG],
      customer: String(customer),
      payment_intent_data: { setup_future_usage: 'off_session' },
    })
    sandbox.stripe.completeCheckout(kept.id)
    expect((await stripe.customers.listPaymentMethods(String(customer))).data).toHaveLength(1)
  })

  it('create an invoice on request, and ignore the customer balance', async () => {
    const { open, stripe, sandbox } = await startShop()
    const customer = await stripe.customers.create({ email: 'a@example.com', balance: -1000 })
    const session = await open({
      mode: 'payment',
      line_items: [MUG],
      customer: customer.id,
      invoice_creation: { enabled: true, invoice_data: { description: 'Mugs', footer: 'Thanks' } },
    })
    sandbox.stripe.completeCheckout(session.id)
    const complete = await stripe.checkout.sessions.retrieve(session.id, { expand: ['invoice'] })
    expect(complete).toMatchObject({
      amount_total: 2500,
      invoice: {
        status: 'paid',
        amount_paid: 2500,
        description: 'Mugs',
        footer: 'Thanks',
        starting_balance: -1000,
        ending_balance: -1000,
      },
    })
    expect((await stripe.customers.retrieve(customer.id)) as Stripe.Customer).toHaveProperty(
      'balance',
      -1000,
    )
  })

  it('require no card if nothing is due', async () => {
    const { open, stripe, sandbox } = await startShop()
    const coupon = await stripe.coupons.create({ percent_off: 100, duration: 'once' })
    const session = await open({
      mode: 'payment',
      line_items: [MUG],
      discounts: [{ coupon: coupon.id }],
    })
    expect(session.payment_status).toBe('no_payment_required')
    expect((await openPage(session.url)).text).not.toContain('name="card"')
    await submit(session.url, { email: 'eve@example.com' })
    expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
      status: 'complete',
      payment_status: 'no_payment_required',
      payment_intent: null,
    })
    expect(sandbox.stripe.charges()).toEqual([])
    expect((await stripe.coupons.retrieve(coupon.id)).times_redeemed).toBe(1)
  })

  it("reject amounts below Stripe's minimum", async () => {
    const { open } = await startShop()
    const price_data = { currency: 'usd', unit_amount: 49, product_data: { name: 'Sticker' } }
    const error = await catchStripeError(
      open({ mode: 'payment', line_items: [{ price_data, quantity: 1 }] }),
    )
    expect(error).toMatchObject({ code: 'amount_too_small', statusCode: 400 })
  })
})

describe('subscriptions in Stripe Checkout', () => {
  it('start a trial without a card if the session allows it', async () => {
    const { open, stripe, sandbox, monthly } = await startShop()
    const session = await open({
      mode: 'subscription',
      line_items: [{ price: monthly.id, quantity: 1 }],
      payment_method_collection: 'if_required',
      customer_email: 'eve@example.com',
      subscription_data: {
        trial_period_days: 14,
        trial_settings: { end_behavior: { missing_payment_method: 'cancel' } },
        metadata: { plan: 'gold' },
      },
    })
    const page = await openPage(session.url)
    expect(page.text).toContain('free until February 14, 2026')
    expect(page.text).not.toContain('name="card"')
    await submit(session.url, { email: 'eve@example.com' })
    const { subscription } = await stripe.checkout.sessions.retrieve(session.id, {
      expand: ['subscription'],
    })
    expect(subscription).toMatchObject({
      status: 'trialing',
      default_payment_method: null,
      metadata: { plan: 'gold' },
    })
    await sandbox.clock.advance({ days: 15 })
    expect(sandbox.stripe.subscription((subscription as Stripe.Subscription).id)).toMatchObject({
      status: 'canceled',
    })
  })

  it('require a card for a trial by default', async () => {
    const { open, stripe, sandbox, monthly } = await startShop()
    const session = await open({
      mode: 'subscription',
      line_items: [{ price: monthly.id, quantity: 1 }],
      subscription_data: { trial_period_days: 14 },
    })
    expect((await openPage(session.url)).text).toContain('name="card"')
    sandbox.stripe.completeCheckout(session.id)
    const { subscription, payment_status } = await stripe.checkout.sessions.retrieve(session.id, {
      expand: ['subscription'],
    })
    expect(payment_status).toBe('no_payment_required')
    expect(subscription).toMatchObject({ default_payment_method: expect.stringMatching(/^pm_/) })
  })

  it('have an adjustable quantity if the session allows it', async () => {
    const { open, stripe, monthly } = await startShop()
    const session = await open({
      mode: 'subscription',
      line_items: [
        {
          price: monthly.id,
          quantity: 2,
          adjustable_quantity: { enabled: true, minimum: 2, maximum: 5 },
        },
      ],
    })
    const change = { action: 'quantity', item: '0', quantity: '6' }
    expect(readAlert(await submit(session.url, change))).toBe(
      'The quantity must be between 2 and 5.',
    )
    await submit(session.url, { ...change, quantity: '5' })
    expect(readRowAmount(await openPage(session.url), 'Total')).toBe('$50.00')
    await submit(session.url, { email: 'eve@example.com', card: 'pm_card_visa' })
    const done = await stripe.checkout.sessions.retrieve(session.id, {
      expand: ['line_items', 'subscription'],
    })
    expect(done).toMatchObject({
      amount_total: 5000,
      line_items: { data: [{ quantity: 5, adjustable_quantity: { maximum: 5, minimum: 2 } }] },
      subscription: { items: { data: [{ quantity: 5 }] } },
    })
  })

  it("keep the customer's known details, and save new ones", async () => {
    const { open, stripe, sandbox, monthly } = await startShop()
    const line_items = [{ price: monthly.id, quantity: 1 }]
    const { id } = await stripe.customers.create({ name: 'Ada' })
    const first = await open({ mode: 'subscription', customer: id, line_items })
    await submit(first.url, { email: 'ada@example.com', name: 'Somebody', card: 'pm_card_visa' })
    expect(sandbox.stripe.customer(id)).toMatchObject({ email: 'ada@example.com', name: 'Ada' })
    const second = await open({
      mode: 'subscription',
      customer: id,
      line_items,
      billing_address_collection: 'required',
      phone_number_collection: { enabled: true },
      customer_update: { address: 'auto', name: 'auto' },
    })
    const page = await openPage(second.url)
    expect(page.text).toMatch(/value="ada@example.com" readonly/)
    await submit(second.url, {
      email: 'other@example.com',
      name: 'Ada King',
      phone: '+4930123',
      line1: 'Unter den Linden 1',
      city: 'Berlin',
      postal_code: '10117',
      country: 'DE',
      card: 'pm_card_visa',
    })
    expect(sandbox.stripe.customer(id)).toMatchObject({
      email: 'ada@example.com',
      name: 'Ada King',
      phone: '+4930123',
      address: { line1: 'Unter den Linden 1', city: 'Berlin', country: 'DE' },
    })
    expect(await stripe.checkout.sessions.retrieve(second.id)).toMatchObject({
      customer_details: { email: 'ada@example.com', address: { postal_code: '10117' } },
    })
  })
})

describe('the setup mode of Stripe Checkout', () => {
  it('attaches the card to the customer', async () => {
    const { open, stripe, sandbox } = await startShop()
    const { id } = await stripe.customers.create({ email: 'a@example.com' })
    const session = await open({
      mode: 'setup',
      currency: 'usd',
      customer: id,
      setup_intent_data: { description: 'For later', metadata: { a: 'b' } },
    })
    expect(session).toMatchObject({ amount_total: null, payment_status: 'no_payment_required' })
    sandbox.stripe.completeCheckout(session.id)
    expect(
      await stripe.checkout.sessions.retrieve(session.id, { expand: ['setup_intent'] }),
    ).toMatchObject({
      status: 'complete',
      setup_intent: { status: 'succeeded', description: 'For later', metadata: { a: 'b' } },
    })
    expect((await stripe.customers.listPaymentMethods(id)).data).toHaveLength(1)
  })

  it('rejects a declined card, even if the session has no customer', async () => {
    const { open, sandbox } = await startShop()
    const session = await open({ mode: 'setup', currency: 'usd' })
    const card = { paymentMethod: 'pm_card_chargeDeclined' }
    expect(() => sandbox.stripe.completeCheckout(session.id, card)).toThrow('declined')
  })
})

describe('promotion codes in Stripe Checkout', () => {
  async function startWithCode(
    restrictions: Partial<Stripe.PromotionCodeCreateParams> = {},
    duration: 'once' | 'forever' = 'once',
  ) {
    const shop = await startShop()
    const coupon = await shop.stripe.coupons.create({ percent_off: 25, duration })
    const code = await shop.stripe.promotionCodes.create({
      promotion: { type: 'coupon', coupon: coupon.id },
      code: 'SPRING',
      ...restrictions,
    })
    const session = await shop.open({
      mode: 'subscription',
      line_items: [{ price: shop.monthly.id, quantity: 1 }],
      allow_promotion_codes: true,
    })
    const type = (typed: string) => submit(session.url, { action: 'apply-code', code: typed })
    return { ...shop, coupon, code, session, type }
  }

  it('can be applied and removed, and are redeemed on completion', async () => {
    const { session, type, code, stripe } = await startWithCode()
    expect((await openPage(session.url)).text).toContain('Promotion code')
    await type(' spring ')
    const reduced = await openPage(session.url)
    expect(readRowAmount(reduced, 'Discount: SPRING')).toBe('-$2.50')
    expect(readRowAmount(reduced, 'Total')).toBe('$7.50')
    await submit(session.url, { action: 'remove-code' })
    expect(readRowAmount(await openPage(session.url), 'Total')).toBe('$10.00')
    await type('SPRING')
    expect((await stripe.promotionCodes.retrieve(code.id)).times_redeemed).toBe(0)
    await submit(session.url, { email: 'eve@example.com', card: 'pm_card_visa' })
    expect((await stripe.promotionCodes.retrieve(code.id)).times_redeemed).toBe(1)
    expect(
      await stripe.checkout.sessions.retrieve(session.id, {
        expand: ['invoice', 'discounts.promotion_code'],
      }),
    ).toMatchObject({
      amount_total: 750,
      total_details: { amount_discount: 250 },
      discounts: [{ coupon: null, promotion_code: { code: 'SPRING' } }],
      invoice: { total: 750 },
    })
  })

  it('can be applied by a test with completeCheckout()', async () => {
    const { session, sandbox } = await startWithCode()
    const done = sandbox.stripe.completeCheckout(session.id, { promotionCode: 'Spring' })
    expect(done).toMatchObject({ amount_total: 750 })
  })

  it.each([
    ['does not exist', {}, 'AUTUMN', 'This code is invalid.'],
    ['has expired', { expires_at: START.getTime() / 1000 + 60 }, 'SPRING', 'inactive or expired'],
    [
      'requires a larger order',
      { restrictions: { minimum_amount: 1001, minimum_amount_currency: 'usd' } },
      'SPRING',
      'below its minimum of $10.01',
    ],
  ])('are rejected if the code %s', async (_name, params, typed, message) => {
    const { session, type, sandbox, stripe } = await startWithCode(params)
    await sandbox.clock.advance({ minutes: 5 })
    const page = await type(typed)
    expect(page.status).toBe(400)
    expect(readAlert(page)).toContain(message)
    expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
      amount_total: 1000,
      discounts: [],
    })
  })

  it('are rejected without a customer if they are for first orders only', async () => {
    const { open, stripe, monthly } = await startWithCode({
      restrictions: { first_time_transaction: true },
    })
    const apply = async (params: Stripe.Checkout.SessionCreateParams) => {
      const session = await open({ allow_promotion_codes: true, ...params })
      return submit(session.url, { action: 'apply-code', code: 'SPRING' })
    }
    expect(readAlert(await apply({ mode: 'payment', line_items: [MUG] }))).toContain(
      'prior transactions',
    )
    const line_items = [{ price: monthly.id, quantity: 1 }]
    expect((await apply({ mode: 'subscription', line_items })).status).toBe(303)
    const { customer } = await seedCustomer(stripe)
    await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
    const again = { mode: 'subscription', customer: customer.id, line_items } as const
    expect(readAlert(await apply(again))).toContain('prior transactions')
  })

  it('are rejected if they belong to another customer', async () => {
    const { open, stripe, coupon, monthly } = await startWithCode()
    const [ada, bob] = await Promise.all(
      ['ada', 'bob'].map((name) => stripe.customers.create({ email: `${name}@example.com` })),
    )
    await stripe.promotionCodes.create({
      promotion: { type: 'coupon', coupon: coupon.id },
      code: 'HERS',
      customer: ada?.id ?? '',
    })
    const line_items = [{ price: monthly.id, quantity: 1 }]
    for (const [customer, status] of [
      [ada?.id, 303],
      [bob?.id, 400],
      [undefined, 400],
    ] as const) {
      const session = await open({
        mode: 'subscription',
        line_items,
        allow_promotion_codes: true,
        ...(customer ? { customer } : {}),
      })
      const page = await submit(session.url, { action: 'apply-code', code: 'hers' })
      expect(page.status).toBe(status)
    }
  })

  it('are rejected if the session does not allow them', async () => {
    const { open, monthly } = await startWithCode()
    const line_items = [{ price: monthly.id, quantity: 1 }]
    const session = await open({ mode: 'subscription', line_items })
    expect((await openPage(session.url)).text).not.toContain('Promotion code')
    expect((await submit(session.url, { action: 'apply-code', code: 'SPRING' })).status).toBe(400)
  })
})

describe('additional fields in Stripe Checkout', () => {
  const label = (custom: string) => ({ type: 'custom' as const, custom })

  it('include custom fields and the terms of service', async () => {
    const { open, stripe, monthly } = await startShop()
    const session = await open({
      mode: 'subscription',
      line_items: [{ price: monthly.id, quantity: 1 }],
      consent_collection: { terms_of_service: 'required' },
      custom_fields: [
        { key: 'team', label: label('Team'), type: 'text', text: { maximum_length: 5 } },
        { key: 'seats', label: label('Seats'), type: 'numeric', optional: true },
        {
          key: 'size',
          label: label('Size'),
          type: 'dropdown',
          dropdown: {
            options: [
              { label: 'Small', value: 's' },
              { label: 'Large', value: 'l' },
            ],
            default_value: 's',
          },
        },
      ],
    })
    expect((await openPage(session.url)).text).toContain('Seats, optional')
    const typed = { email: 'eve@example.com', card: 'pm_card_visa', terms: 'on' }
    const answers = { ...typed, 'field-team': 'Ants', 'field-size': 'l' }
    for (const [wrong, message] of [
      [typed, 'Please fill in “Team”.'],
      [{ ...answers, 'field-team': 'Mammoths' }, '“Team” is too short or too long.'],
      [{ ...answers, 'field-seats': 'ten' }, '“Seats” is a number.'],
      [{ ...answers, 'field-size': 'xl' }, '“Size” is one of a list.'],
    ] as const) {
      expect(readAlert(await submit(session.url, wrong))).toBe(message)
    }
    const { terms: _terms, ...unsure } = answers
    expect(readAlert(await submit(session.url, unsure))).toBe('Please accept the terms of service.')
    expect((await submit(session.url, answers)).status).toBe(303)
    expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
      consent: { terms_of_service: 'accepted' },
      custom_fields: [
        { key: 'team', text: { value: 'Ants' } },
        { key: 'seats', numeric: { value: null } },
        { key: 'size', dropdown: { value: 'l' } },
      ],
    })
  })

  it('include a tax id, which the invoice shows', async () => {
    const { open, stripe, sandbox, monthly } = await startShop()
    const session = await open({
      mode: 'subscription',
      line_items: [{ price: monthly.id, quantity: 1 }],
      tax_id_collection: { enabled: true },
    })
    const taxId = { type: 'eu_vat', value: 'DE123456789' }
    sandbox.stripe.completeCheckout(session.id, { email: 'eve@example.com', taxId })
    const done = await stripe.checkout.sessions.retrieve(session.id, { expand: ['invoice'] })
    expect(done).toMatchObject({
      customer_details: { tax_ids: [taxId] },
      invoice: { customer_tax_ids: [taxId] },
    })
    const { data } = await stripe.customers.listTaxIds(String(done.customer))
    expect(data).toMatchObject([taxId])
  })

  it("include a known customer's tax id only if Checkout may change the customer's name", async () => {
    const { open, stripe } = await startShop()
    const { id } = await stripe.customers.create({ email: 'a@example.com' })
    const params: Stripe.Checkout.SessionCreateParams = {
      mode: 'payment',
      customer: id,
      line_items: [MUG],
      tax_id_collection: { enabled: true },
    }
    expect((await catchStripeError(open(params))).message).toContain(
      'set `customer_update[name]` to `auto`',
    )
    expect((await open({ ...params, customer_update: { name: 'auto' } })).status).toBe('open')
  })
})

describe('3-D Secure in Stripe Checkout', () => {
  it.each(['payment', 'subscription', 'setup'] as const)(
    'lets another card pay after failed authentication in %s mode',
    async (mode) => {
      const { open, stripe, sandbox, monthly } = await startShop()
      const session = await open({
        mode,
        ...(mode === 'setup' ? { currency: 'usd' } : {}),
        ...(mode === 'payment' ? { line_items: [MUG] } : {}),
        ...(mode === 'subscription' ? { line_items: [{ price: monthly.id, quantity: 1 }] } : {}),
      })
      const typed = { email: 'eve@example.com', card: 'pm_card_threeDSecure2Required' }
      const asked = await submit(session.url, typed)
      expect(asked.text).toContain('Your bank asks you')
      expect(asked.text).toContain('value="eve@example.com"')
      const failed = await submit(session.url, { ...typed, challenge: 'fail' })
      expect(failed.status).toBe(402)
      expect(readAlert(failed)).toContain('choose a different payment method')
      expect(failed.text).toContain('value="eve@example.com"')
      expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('open')
      expect(sandbox.stripe.subscriptions()).toEqual([])
      const done = await submit(session.url, { ...typed, card: 'pm_card_visa' })
      expect(done.status).toBe(303)
      expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('complete')
    },
  )

  it('completes the payment after authentication', async () => {
    const { open, stripe, monthly } = await startShop()
    const line_items = [{ price: monthly.id, quantity: 1 }]
    const session = await open({ mode: 'subscription', line_items })
    const done = await submit(session.url, {
      email: 'eve@example.com',
      card: 'pm_card_threeDSecure2Required',
      challenge: 'complete',
    })
    expect(done.status).toBe(303)
    expect(
      await stripe.checkout.sessions.retrieve(session.id, { expand: ['subscription'] }),
    ).toMatchObject({ payment_status: 'paid', subscription: { status: 'active' } })
  })

  it("shows a declined card's error, and keeps the form's values", async () => {
    const { open, sandbox, stripe, monthly } = await startShop()
    const line_items = [{ price: monthly.id, quantity: 1 }]
    const session = await open({ mode: 'subscription', line_items })
    const page = await submit(session.url, {
      email: 'eve@example.com',
      name: 'Eve <b>',
      card: 'pm_card_chargeDeclinedInsufficientFunds',
    })
    expect(page.status).toBe(402)
    expect(readAlert(page)).toBe('Your card has insufficient funds.')
    expect(page.text).toContain('value="Eve &lt;b&gt;"')
    // A reload of the page with the error submits nothing again.
    const body = new URLSearchParams({ card: 'pm_card_chargeDeclined' })
    const sent = await fetch(session.url ?? '', { method: 'POST', body, redirect: 'manual' })
    const led = new URL(sent.headers.get('location') ?? '', session.url ?? '').href
    expect([sent.status, (await openPage(led)).status]).toEqual([303, 402])
    expect((await openPage(led)).status).toBe(200)
    expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('open')
    expect(sandbox.stripe.customers()).toEqual([])
  })
})

it('a Checkout session expires after its time, or on request', async () => {
  const { open, stripe, sandbox, monthly } = await startShop()
  const line_items = [{ price: monthly.id, quantity: 1 }]
  const half = START.getTime() / 1000 + 1800
  const session = await open({ mode: 'subscription', line_items, expires_at: half })
  const url = session.url
  await sandbox.clock.advance({ minutes: 31 })
  expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
    status: 'expired',
    url: null,
  })
  expect((await openPage(url)).status).toBe(410)
  expect((await submit(url, { card: 'pm_card_visa' })).status).toBe(410)
  expect(sandbox.stripe.events('checkout.session.expired')).toHaveLength(1)
  expect(sandbox.stripe.subscriptions()).toEqual([])
})

it('a Checkout session allows changes of its metadata only', async () => {
  const { open, stripe, monthly } = await startShop()
  const line_items = [{ price: monthly.id, quantity: 1 }]
  const { id } = await open({ mode: 'subscription', line_items, metadata: { a: '1' } })
  const updated = await stripe.checkout.sessions.update(id, { metadata: { b: '2' } })
  expect(updated.metadata).toEqual({ a: '1', b: '2' })
  const error = await catchStripeError(
    stripe.checkout.sessions.update(id, { line_items: [{ id: 'li_1' }] }),
  )
  expect(error.param).toBe('line_items')
})

describe('the parameters that Stripe Checkout rejects', () => {
  const line_items = [MUG]
  it.each<[string, Stripe.Checkout.SessionCreateParams, string, string | undefined]>([
    [
      'a discount together with codes',
      { mode: 'payment', line_items, allow_promotion_codes: false, discounts: [{ coupon: 'x' }] },
      'You may only specify one of these parameters: allow_promotion_codes, discounts.',
      'allow_promotion_codes',
    ],
    [
      'codes in setup mode',
      { mode: 'setup', currency: 'usd', allow_promotion_codes: true },
      'You can not pass `allow_promotion_codes` in `setup` mode.',
      'allow_promotion_codes',
    ],
    [
      'a subscription in a payment',
      { mode: 'payment', line_items, subscription_data: { trial_period_days: 3 } },
      'You can not pass `subscription_data` in `payment` mode.',
      'subscription_data',
    ],
    [
      'customer_creation for a subscription',
      { mode: 'subscription', line_items, customer_creation: 'always' },
      '`customer_creation` can only be used in `payment` mode.',
      undefined,
    ],
    [
      'a customer and an e-mail address',
      { mode: 'payment', line_items, customer: 'cus_1', customer_email: 'a@example.com' },
      'You may only specify one of these parameters: customer, customer_email.',
      'customer',
    ],
    [
      'two discounts',
      { mode: 'payment', line_items, discounts: [{ coupon: 'x' }, { coupon: 'y' }] },
      'You may only specify up to one discount.',
      'discounts',
    ],
    [
      'an unknown coupon',
      { mode: 'payment', line_items, discounts: [{ coupon: 'x' }] },
      "No such coupon: 'x'",
      'discounts[0][coupon]',
    ],
    [
      'embedded mode',
      { mode: 'payment', line_items, ui_mode: 'embedded_page' },
      'The sandbox supports only hosted checkout pages.',
      'ui_mode',
    ],
    [
      'a return URL of embedded mode',
      { mode: 'payment', line_items, return_url: 'https://shop.example' },
      'You can not pass `return_url` when `ui_mode` is `hosted_page`.',
      'return_url',
    ],
    ...(
      [
        ['shipping_address_collection', { allowed_countries: ['US'] }],
        ['branding_settings', { display_name: 'Shop' }],
        ['payment_method_options', { card: { request_three_d_secure: 'any' } }],
        ['saved_payment_method_options', { payment_method_save: 'enabled' }],
        ['name_collection', { individual: { enabled: true } }],
        ['optional_items', [{ price: 'price_1', quantity: 1 }]],
      ] as const
    ).map(([name, value]): [string, Stripe.Checkout.SessionCreateParams, string, string] => [
      name,
      { mode: 'payment', line_items, [name]: value } as never,
      `The sandbox does not imitate \`${name}\`.`,
      name,
    ]),
    [
      'consent to promotions',
      { mode: 'payment', line_items, consent_collection: { promotions: 'auto' } },
      'The sandbox does not imitate `consent_collection[promotions]`.',
      'consent_collection[promotions]',
    ],
    [
      'a dropdown field without options',
      {
        mode: 'payment',
        line_items,
        custom_fields: [{ key: 'a', label: { type: 'custom', custom: 'A' }, type: 'dropdown' }],
      },
      'Missing required param: custom_fields[0][dropdown][options].',
      'custom_fields[0][dropdown][options]',
    ],
  ])('include %s', async (_name, params, message, param) => {
    const { open } = await startShop()
    const error = await catchStripeError(open(params))
    expect(error.message).toBe(message)
    expect(error.param).toBe(param)
  })

  it('include a trial that is too short, and two trials in one session', async () => {
    const { open, monthly } = await startShop()
    const trial = (subscription_data: Stripe.Checkout.SessionCreateParams['subscription_data']) =>
      catchStripeError(
        open({
          mode: 'subscription',
          line_items: [{ price: monthly.id, quantity: 1 }],
          ...(subscription_data ? { subscription_data } : {}),
        }),
      )
    const now = START.getTime() / 1000
    expect((await trial({ trial_end: now + 86_400 })).message).toContain('at least 2 days')
    expect((await trial({ trial_period_days: 0 })).param).toContain('trial_period_days')
    expect((await trial({ trial_period_days: 3, trial_end: now + 864_000 })).message).toContain(
      'only specify one',
    )
  })

  it('include prices that cannot be combined in one session', async () => {
    const { open, stripe, monthly, product } = await startShop()
    const euro = await stripe.prices.create({
      product: product.id,
      currency: 'eur',
      unit_amount: 500,
      recurring: { interval: 'month' },
    })
    const mixed = [monthly, euro].map(({ id }) => ({ price: id, quantity: 1 }))
    const error = await catchStripeError(open({ mode: 'subscription', line_items: mixed }))
    expect(error.message).toContain("doesn't match the expected currency: `usd`")
    await stripe.prices.update(monthly.id, { active: false })
    const gone = open({ mode: 'subscription', line_items: [{ price: monthly.id, quantity: 1 }] })
    expect((await catchStripeError(gone)).message).toContain('inactive')
  })
})
