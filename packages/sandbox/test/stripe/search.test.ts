import { expect, it } from 'vitest'
import { catchStripeError, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

it('the Stripe sandbox finds the invoices of a subscription', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const { id } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const { data } = await stripe.invoices.search({ query: `subscription:"${id}" AND total>900` })
  expect(data).toMatchObject([{ total: 1000, customer: customer.id }])
  const { data: charges } = await stripe.charges.search({
    query: 'payment_method_details.card.last4:4242',
  })
  expect(charges).toMatchObject([{ amount: 1000 }])
})

it.each([
  `name:"O'Brien"`,
  `name:'O\\'Brien'`,
  `name~"o'b"`,
  `metadata["it's"]:'a "word"'`,
  `metadata['it\\'s']:"a \\"word\\""`,
])('the Stripe sandbox accepts single and double quotes in a search query: %s', async (query) => {
  const { stripe } = await startStripeSandbox()
  const metadata = { "it's": 'a "word"' }
  const { id } = await stripe.customers.create({ name: "O'Brien", metadata })
  await stripe.customers.create({ name: 'Brien' })
  expect((await stripe.customers.search({ query })).data).toMatchObject([{ id }])
})

it.each([
  `name:"Ada'`,
  `name:'Ada"`,
  `metadata["k']:"v"`,
  'created>"soon"',
  'created:"1.5"',
  'created>null',
])('the Stripe sandbox rejects values of the wrong type: %s', async (query) => {
  const { stripe } = await startStripeSandbox()
  const asked = stripe.customers.search({ query })
  expect(await catchStripeError(asked)).toMatchObject({ statusCode: 400, param: 'query' })
})

it('the Stripe sandbox finds charges by the last four digits of the debited bank account', async () => {
  const { stripe } = await startStripeSandbox()
  await stripe.paymentIntents.create({
    amount: 900,
    currency: 'eur',
    payment_method: 'pm_sepaDebit_success_de',
    confirm: true,
    return_url: 'https://shop.example/done',
  })
  const [charge] = (await stripe.charges.list()).data
  const { last4 } = charge?.payment_method_details?.sepa_debit ?? {}
  const query = `payment_method_details.sepa_debit.last4:"${last4}"`
  expect((await stripe.charges.search({ query })).data).toMatchObject([{ id: charge?.id }])
  const none = 'payment_method_details.card.last4:"4242"'
  expect((await stripe.charges.search({ query: none })).data).toEqual([])
})

it('the Stripe sandbox finds objects with and without a metadata key', async () => {
  const { stripe } = await startStripeSandbox()
  await stripe.products.create({ name: 'With', metadata: { color: 'red' } })
  await stripe.products.create({ name: 'Without' })
  const names = async (query: string) =>
    (await stripe.products.search({ query })).data.map(({ name }) => name)
  expect(await names('metadata["color"]:null')).toEqual(['Without'])
  expect(await names('-metadata["color"]:null')).toEqual(['With'])
  expect(await names('name~"ITH"')).toEqual(['Without', 'With'])
})

it.each([
  ['products', 'nope:"x"'],
  ['products', 'metadata:"x"'],
  ['products', 'name["x"]:"y"'],
  ['products', 'constructor:"x"'],
  ['customers', 'id:"cus_1"'],
  ['paymentIntents', 'amount_received>1'],
  ['subscriptions', 'customer:"cus_1"'],
  ['charges', 'payment_method_details.sepa_debit.iban:"DE"'],
])(
  'the Stripe sandbox rejects a field by which %s cannot be searched: %s',
  async (resource, query) => {
    const { stripe } = await startStripeSandbox()
    const asked = stripe[resource as 'products'].search({ query })
    expect(await catchStripeError(asked)).toMatchObject({
      statusCode: 400,
      param: 'query',
      message: expect.stringContaining('is an unsupported search field'),
    })
  },
)

it.each([
  'status~"act"',
  'status>"a"',
  'created~"17"',
  Array(11).fill('created>1').join(' AND '),
  'created>1 AND status:"active" OR status:"canceled"',
])('the Stripe sandbox rejects the search query %s', async (query) => {
  const { stripe } = await startStripeSandbox()
  const asked = stripe.subscriptions.search({ query })
  expect(await catchStripeError(asked)).toMatchObject({ statusCode: 400, param: 'query' })
})
