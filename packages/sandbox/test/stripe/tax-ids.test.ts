import { expect, it } from 'vitest'
import { catchStripeError, seedCustomer, startStripeSandbox } from './support.ts'

it('the Stripe sandbox verifies a tax id and reports the result', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  for (const [type, value, first, last] of [
    ['eu_vat', 'DE123456789', 'pending', 'pending'],
    ['eu_vat', '000000000', 'pending', 'verified'],
    ['gb_vat', '111111111', 'pending', 'unverified'],
    ['au_abn', '222222222', 'pending', 'pending'],
    ['us_ein', '12-3456789', 'unavailable', 'unavailable'],
  ] as const) {
    const made = await stripe.customers.createTaxId(customer.id, { type, value })
    expect(made.verification?.status).toBe(first)
    const seen = await stripe.customers.retrieveTaxId(customer.id, made.id)
    expect(seen.verification?.status).toBe(last)
    const told = sandbox.stripe.events('customer.tax_id.updated')
    const about = told.filter((event) => (event.data as EventData).object.id === made.id)
    expect(about).toHaveLength(first === last ? 0 : 1)
  }
  expect(sandbox.stripe.events('customer.tax_id.created')).toHaveLength(5)
})

interface EventData {
  object: { id: string }
}

it('the Stripe sandbox recognizes the country of a tax id, and rejects tax ids whose form is wrong', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const create = (type: 'eu_vat' | 'us_ein' | 'ch_vat' | 'no_vat', value: string) =>
    stripe.customers.createTaxId(customer.id, { type, value })
  expect((await create('eu_vat', 'EL123456789')).country).toBe('GR')
  expect((await create('ch_vat', 'CHE-123.456.789 MWST')).country).toBe('CH')
  expect((await create('no_vat', 'anything at all')).country).toBe('NO')
  for (const [type, value] of [
    ['eu_vat', '123456789'],
    ['us_ein', '1-2'],
  ] as const) {
    const refused = await catchStripeError(create(type, value))
    expect([refused.code, refused.param]).toEqual(['tax_id_invalid', 'value'])
  }
  expect((await stripe.customers.listTaxIds(customer.id)).data).toHaveLength(3)
})

it('the Stripe sandbox shows on an invoice the tax ids that the customer has when the invoice is finalized', async () => {
  const { stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({
    tax_id_data: [{ type: 'eu_vat', value: 'DE123456789' }],
    expand: ['tax_ids'],
  })
  expect(customer.tax_ids?.data).toMatchObject([{ value: 'DE123456789', customer: customer.id }])
  const draft = await stripe.invoices.create({ customer: customer.id })
  expect(draft.customer_tax_ids).toEqual([{ type: 'eu_vat', value: 'DE123456789' }])
  await stripe.customers.createTaxId(customer.id, { type: 'us_ein', value: '123456789' })
  const open = await stripe.invoices.finalizeInvoice(draft.id ?? '')
  expect(open.customer_tax_ids).toHaveLength(2)
  const [newest] = (await stripe.customers.listTaxIds(customer.id)).data
  await stripe.customers.deleteTaxId(customer.id, newest?.id ?? '')
  expect((await stripe.invoices.retrieve(open.id ?? '')).customer_tax_ids).toHaveLength(2)
  const next = await stripe.invoices.create({ customer: customer.id })
  expect(next.customer_tax_ids).toEqual([{ type: 'eu_vat', value: 'DE123456789' }])
})

it('the Stripe sandbox creates no customer if one of its tax ids is invalid', async () => {
  const { stripe } = await startStripeSandbox()
  const refused = await catchStripeError(
    stripe.customers.create({
      tax_id_data: [
        { type: 'eu_vat', value: 'DE123456789' },
        { type: 'eu_vat', value: '?' },
      ],
    }),
  )
  expect(refused.param).toBe('tax_id_data[1][value]')
  expect((await stripe.customers.list()).data).toEqual([])
})

it('the Stripe sandbox keeps the tax ids of each owner separate', async () => {
  const { stripe } = await startStripeSandbox()
  const ada = await stripe.customers.create({})
  const bob = await stripe.customers.create({})
  const own = await stripe.taxIds.create({ type: 'us_ein', value: '123456789' })
  expect([own.owner?.type, own.customer, own.verification]).toEqual(['self', null, null])
  const hers = await stripe.taxIds.create({
    type: 'eu_vat',
    value: 'FRAB123456789',
    owner: { type: 'customer', customer: ada.id },
  })
  expect((await stripe.taxIds.list()).data.map((each) => each.id)).toEqual([own.id])
  expect((await stripe.customers.listTaxIds(ada.id)).data.map((each) => each.id)).toEqual([hers.id])
  expect((await stripe.customers.listTaxIds(bob.id)).data).toEqual([])
  expect((await catchStripeError(stripe.customers.retrieveTaxId(bob.id, hers.id))).statusCode).toBe(
    404,
  )
  expect((await catchStripeError(stripe.customers.deleteTaxId(bob.id, hers.id))).statusCode).toBe(
    404,
  )
  const foreign = { type: 'account', account: 'acct_x' } as const
  expect((await catchStripeError(stripe.taxIds.list({ owner: foreign }))).param).toBe('owner[type]')
  await stripe.customers.del(ada.id)
  expect((await catchStripeError(stripe.taxIds.retrieve(hers.id))).statusCode).toBe(404)
})
