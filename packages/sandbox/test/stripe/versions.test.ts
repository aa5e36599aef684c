import { expect, it, vi } from 'vitest'
import { SandboxStore } from '../../src/core/store/store.ts'
import { startSandbox } from '../../src/index.ts'
import { openTables } from '../../src/stripe/state/tables.ts'
import { VERSION_CHANGES } from '../../src/stripe/versions/changes.ts'
import { VersionConverter } from '../../src/stripe/versions/shape.ts'
import { ApiVersions } from '../../src/stripe/versions/versions.ts'
import { ACACIA, BASIL, CLOVER, DAHLIA, PINNED, startVersions } from './old-versions.ts'
import { seedCustomer, seedPrices } from './support.ts'

it('the Stripe sandbox responds in the requested API version', async () => {
  const { send } = await startVersions()
  for (const version of [BASIL, CLOVER, DAHLIA, '2026-09-30.endive', PINNED]) {
    const { status, headers } = await send(version, '/customers')
    expect(status).toBe(200)
    expect(headers.get('stripe-version')).toBe(version)
    expect(headers.get('x-tollgate-sandbox-warning')).toBeNull()
  }
})

it('the Stripe sandbox treats a request for an unknown API version like one for the pinned version, with a warning', async () => {
  const { send } = await startVersions()
  for (const version of ['2031-01-01.zinnia', 'latest', '2026-10-2']) {
    const { status, headers, body } = await send(version, '/checkout/sessions', {
      mode: 'setup',
      currency: 'usd',
      success_url: 'https://shop.example/done',
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ ui_mode: 'hosted_page' })
    expect(headers.get('stripe-version')).toBe(PINNED)
    expect(headers.get('x-tollgate-sandbox-warning')).toBe(
      `Stripe-Version ${version}: unknown version; ${PINNED} is used instead`,
    )
  }
  const refused = await send('latest', '/customers/cus_none')
  expect(refused.status).toBe(404)
  expect(refused.headers.get('x-tollgate-sandbox-warning')).toContain('latest')
})

it('the Stripe sandbox responds to a request for an API version that was never released as Stripe did on the date in its name, with a warning', async () => {
  const { send } = await startVersions()
  for (const version of ['2025-08-27.preview', '2025-08-27.basil; feature_beta=v1', '2025-08-28']) {
    const { headers } = await send(version, '/customers')
    expect(headers.get('stripe-version')).toBe(version)
    expect(headers.get('x-tollgate-sandbox-warning')).toContain('answered as on its date')
  }
})

it('the Stripe sandbox warns that API versions before basil are incomplete', async () => {
  const { send } = await startVersions()
  const { headers } = await send('2020-08-27', '/customers')
  expect(headers.get('stripe-version')).toBe('2020-08-27')
  expect(headers.get('x-tollgate-sandbox-warning')).toContain('older than 2025-03-31')
})

it('the Stripe sandbox logs the warning about an API version once, without control characters for a terminal', () => {
  const { tables } = openTables(new SandboxStore())
  const lines: string[] = []
  const versions = new ApiVersions(tables, (line) => lines.push(line))
  for (const asked of ['2031-01-01', '2031-01-01', '\u009b2J', BASIL, PINNED]) versions.find(asked)
  expect(lines).toEqual([
    `tollgate-sandbox: Stripe-Version 2031-01-01: unknown version; ${PINNED} is used instead`,
    `tollgate-sandbox: Stripe-Version The version: unknown version; ${PINNED} is used instead`,
  ])
})

it('the Stripe sandbox returns a response unconverted if no API changes have to be reverted for the requested version', async () => {
  const downgrade = vi.spyOn(VersionConverter.prototype, 'downgrade')
  const { call, stripe } = await startVersions()
  await seedCustomer(stripe)
  await call('2026-09-30.endive', '/customers')
  expect(downgrade).not.toHaveBeenCalled()
  await call(DAHLIA, '/customers')
  expect(downgrade).toHaveBeenCalledOnce()
  downgrade.mockRestore()
})

it('the Stripe sandbox lists the changes between API versions newest first, each once', () => {
  const dates = VERSION_CHANGES.map(({ since }) => since)
  expect(dates).toEqual([...dates].sort().reverse())
  expect(new Set(VERSION_CHANGES.map(({ name }) => name)).size).toBe(VERSION_CHANGES.length)
})

it('the Stripe sandbox converts objects without changing their metadata, whatever its keys', async () => {
  const { call, stripe } = await startVersions()
  const { customer } = await seedCustomer(stripe)
  const metadata = { object: 'invoice', parent: 'kept', status: 'paid' }
  await stripe.customers.update(customer.id, { metadata })
  expect((await call(ACACIA, `/customers/${customer.id}`)).metadata).toEqual(metadata)
})

it('the Stripe sandbox does not convert deleted objects to an older API version', async () => {
  const { call, stripe } = await startVersions()
  const { customer } = await seedCustomer(stripe)
  const invoice = await stripe.invoices.create({ customer: customer.id })
  await stripe.invoices.del(invoice.id)
  await stripe.customers.del(customer.id)
  expect(await call(ACACIA, `/customers/${customer.id}`)).toEqual({
    id: customer.id,
    object: 'customer',
    deleted: true,
  })
})

it("the Stripe sandbox responds to calls without a Stripe-Version header in the account's API version", async () => {
  const { sandbox, call, send, stripe } = await startVersions({ stripe: { apiVersion: BASIL } })
  expect(sandbox.stripe.apiVersion).toBe(BASIL)
  const coupon = await stripe.coupons.create({ percent_off: 10, duration: 'once' })
  const code = await call(null, '/promotion_codes', { coupon: coupon.id, code: 'TEN' })
  expect(code).toMatchObject({ coupon: { object: 'coupon', id: coupon.id } })
  const { headers } = await send(null, '/customers')
  expect(headers.get('stripe-version')).toBe(BASIL)
  await expect(startSandbox({ stripe: { apiVersion: '2025-08-28.basil' } })).rejects.toThrow(
    TypeError,
  )
})

it('the Stripe sandbox returns the first response for a repeated idempotency key, whatever API version the repeated call names', async () => {
  const { sandbox, stripe, call } = await startVersions()
  const coupon = await stripe.coupons.create({ percent_off: 10, duration: 'once' })
  const headers = {
    authorization: `Bearer ${sandbox.stripe.apiKey}`,
    'idempotency-key': 'once',
    'stripe-version': BASIL,
  }
  const send = () =>
    fetch(`${sandbox.stripe.url}/v1/promotion_codes`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ coupon: coupon.id }),
    }).then((response) => response.json())
  expect(await send()).toEqual(await send())
  expect(await call(PINNED, '/promotion_codes')).toMatchObject({
    data: [{ object: 'promotion_code' }],
  })
})

it('the Stripe sandbox converts objects inside error responses to the requested API version', async () => {
  const { send, stripe } = await startVersions()
  const { customer } = await seedCustomer(stripe, 'pm_card_chargeCustomerFail')
  const { monthly } = await seedPrices(stripe)
  const form = {
    customer: customer.id,
    'items[0][price]': monthly.id,
    payment_behavior: 'error_if_incomplete',
  }
  const declined = { confirm: 'true', amount: '500', currency: 'usd', customer: customer.id }
  const old = await send(ACACIA, '/payment_intents', {
    ...declined,
    'automatic_payment_methods[enabled]': 'true',
    'automatic_payment_methods[allow_redirects]': 'never',
    payment_method: 'pm_card_chargeDeclined',
  })
  expect(old.status).toBe(402)
  expect(old.body.error).toMatchObject({ payment_intent: { invoice: null } })
  expect((await send(ACACIA, '/subscriptions', form)).status).toBe(402)
})
