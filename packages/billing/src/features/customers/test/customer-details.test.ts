import { describe, expect, it } from 'vitest'
import { type FlowTest, PROVIDERS, start } from '../../../../test/support.ts'
import { NoCustomer } from '../../../index.ts'

/** Reads the customer's details at the provider. */
async function readDetails(test: FlowTest) {
  const raw = await (await test.billing.user(1)).asCustomer()
  const { email, name, phone, firstName, lastName, address, addresses } = raw as {
    readonly [part: string]: unknown
    readonly address?: Readonly<Record<string, unknown>> | null
    readonly addresses?: ReadonlyArray<Readonly<Record<string, unknown>>>
  }
  const [first, ...others] = addresses ?? []
  expect(others).toEqual([])
  return {
    email: email || null,
    name: name ?? `${firstName ?? ''} ${lastName ?? ''}`.trim(),
    phone: phone || null,
    city: address?.city ?? first?.locality ?? null,
    street: address?.line1 ?? first?.streetAddress ?? null,
    zip: address?.postal_code ?? first?.postalCode ?? null,
    country: address?.country ?? first?.countryCodeAlpha2 ?? null,
  }
}

describe.each(PROVIDERS)('the details of a customer at $provider', ({ provider, card }) => {
  it('keep the values that an update leaves out', async () => {
    const test = await start(provider)
    const { user } = test
    await expect(user.updateCustomer({ name: 'Ada' })).rejects.toThrow(NoCustomer)
    await user.updateCard(card)
    await user.updateCustomer({ name: 'Ada King Lovelace', phone: '123' })
    await user.updateCustomer({ email: 'ada@example.org' })
    expect(await readDetails(test)).toMatchObject({
      name: 'Ada King Lovelace',
      phone: '123',
      email: 'ada@example.org',
    })
    await user.updateCustomer({ name: 'Ada' })
    expect(await readDetails(test)).toMatchObject({ name: 'Ada', phone: '123' })
  })

  it('include one address, which is replaced as a whole', async () => {
    const test = await start(provider)
    const { user } = test
    expect(await user.billingAddress()).toBeNull()
    await user.updateCard(card)
    expect(await user.billingAddress()).toBeNull()
    const address = { line1: 'Mill Lane 1', line2: 'Flat 2', city: 'Bath', postalCode: 'BA1' }
    for (let i = 0; i < 2; i++)
      await user.updateCustomer({ address: { ...address, country: 'GB' } })
    const moved = { street: 'Mill Lane 1', city: 'Bath', zip: 'BA1', country: 'GB' }
    expect(await readDetails(test)).toMatchObject(moved)
    await user.updateCustomer({ address: { line1: 'Hill 3', city: 'York', country: 'GB' } })
    const now = await readDetails(test)
    expect({ ...now, zip: now.zip || null }).toMatchObject({ street: 'Hill 3', zip: null })
    expect(await user.billingAddress()).toEqual({ line1: 'Hill 3', city: 'York', country: 'GB' })
    await user.updateCustomer({ address: {} })
    expect(await user.billingAddress()).toBeNull()
  })

  it("are copied from the application's row to the provider, and never back", async () => {
    const test = await start(provider)
    const { user, database } = test
    await user.syncCustomerDetails()
    await user.updateCard(card)
    const set = (row: object) => database.kysely.updateTable('users').set(row).execute()
    await set({ email: 'king@example.com', name: 'Ada King' })
    await user.syncCustomerDetails()
    expect(await readDetails(test)).toMatchObject({ email: 'king@example.com', name: 'Ada King' })
    await user.updateCustomer({ email: 'other@example.com' })
    await test.settle()
    const [row] = await database.kysely.selectFrom('users').selectAll().execute()
    expect(row).toMatchObject({ email: 'king@example.com', name: 'Ada King' })
    await set({ email: null, name: 'Ada' })
    await user.syncCustomerDetails()
    expect(await readDetails(test)).toMatchObject({ email: 'other@example.com', name: 'Ada' })
  })
})

it('an address is created again if it is deleted at Braintree during an update of the customer', async () => {
  const test = await start('braintree', { webhooks: false })
  const { user, sandbox } = test
  await user.updateCard('fake-valid-visa-nonce')
  await user.updateCustomer({ address: { city: 'Bath' } })
  const { default: braintree } = await import('braintree')
  const sdk = new braintree.BraintreeGateway(sandbox.braintree.config as never)
  const { id, addresses = [] } = await sdk.customer.find(user.providerId ?? '')
  // Delays the response that contains the address.
  sandbox.trouble.failNext(1, 'held', 'braintree')
  const moved = user.updateCustomer({ address: { city: 'York' } })
  await sandbox.trouble.untilHeld()
  await sdk.address.delete(id, addresses[0]?.id ?? '')
  sandbox.trouble.release()
  await moved
  expect(await readDetails(test)).toMatchObject({ city: 'York' })
})
