import { describe, expect, it } from 'vitest'
import { codesOf, collect, startMerchant } from './support.ts'

interface Address {
  readonly id: string
  readonly customerId: string
  readonly streetAddress: string | null
  readonly company: string | null
  readonly region: string | null
  readonly countryName: string | null
}

interface WithAddress {
  readonly token: string
  readonly billingAddress: Address
}

const HOME = {
  firstName: 'Ada',
  streetAddress: '12 St James’s Square',
  locality: 'London',
  postalCode: 'SW1Y 4JH',
  countryCodeAlpha2: 'GB',
}

async function startWithCustomer() {
  const merchant = await startMerchant()
  const { customer } = await merchant.gateway.customer.create({ id: 'ada' })
  return { ...merchant, customer }
}

async function keepCard(
  { gateway }: Awaited<ReturnType<typeof startWithCustomer>>,
  extras: object,
): Promise<WithAddress> {
  const { creditCard } = (await gateway.creditCard.create({
    customerId: 'ada',
    number: '4111111111111111',
    expirationDate: '12/2030',
    ...extras,
  } as never)) as unknown as { creditCard: WithAddress }
  return creditCard
}

describe('the address API', () => {
  it('creates, finds, changes and deletes an address', async () => {
    const { gateway, customer } = await startWithCustomer()
    const made = await gateway.address.create({
      customerId: customer.id,
      ...HOME,
      internationalPhone: { countryCode: '44', nationalNumber: '2079460000' },
    } as never)
    expect(made.address).toMatchObject({
      customerId: 'ada',
      locality: 'London',
      countryName: 'United Kingdom',
      countryCodeAlpha3: 'GBR',
      countryCodeNumeric: '826',
      internationalPhone: { countryCode: '44', nationalNumber: '2079460000' },
    })
    const { id } = made.address as unknown as Address
    await gateway.address.update('ada', id, { locality: 'Ockham', company: '' })
    const found = (await gateway.address.find('ada', id)) as unknown as Address
    expect(found).toMatchObject({ ...HOME, locality: 'Ockham', company: '' })
    expect((await gateway.customer.find('ada')).addresses).toHaveLength(1)
    await gateway.address.delete('ada', id)
    await expect(gateway.address.find('ada', id)).rejects.toMatchObject({ type: 'notFoundError' })
  })

  it('returns 404 for an address of another customer', async () => {
    const { gateway } = await startWithCustomer()
    await gateway.customer.create({ id: 'eve' })
    const made = await gateway.address.create({ customerId: 'ada', ...HOME } as never)
    const { id } = made.address as unknown as Address
    const elsewhere = { type: 'notFoundError' }
    await expect(gateway.address.find('eve', id)).rejects.toMatchObject(elsewhere)
    const changed = gateway.address.update('eve', id, { company: 'Eve' })
    await expect(changed).rejects.toMatchObject(elsewhere)
    await expect(gateway.address.delete('eve', id)).rejects.toMatchObject(elsewhere)
    expect((await gateway.address.find('ada', id)) as unknown as Address).toMatchObject({
      company: null,
    })
    const nobody = gateway.address.create({ customerId: 'nobody', ...HOME } as never)
    await expect(nobody).rejects.toMatchObject(elsewhere)
  })

  it.each([
    ['no fields', {}, ['81801']],
    ['an unknown country name', { countryName: 'Atlantis' }, ['91803']],
    ['an unknown country code', { countryCodeAlpha2: 'XX' }, ['91814']],
    ['two different countries', { countryCodeAlpha2: 'US', countryCodeAlpha3: 'FRA' }, ['91815']],
    ['a street of 256 letters', { streetAddress: 'x'.repeat(256) }, ['81812']],
    ['a postal code of 10 letters', { postalCode: '1234567890' }, ['81809']],
    ['a postal code with a dollar', { postalCode: '1$2' }, ['81813']],
  ])('rejects an address with %s', async (_, given, codes) => {
    const { gateway } = await startWithCustomer()
    const refused = await gateway.address.create({ customerId: 'ada', ...given } as never)
    expect(codesOf(refused)).toEqual(codes)
  })

  it('allows at most fifty addresses per customer', async () => {
    const { gateway } = await startWithCustomer()
    for (let i = 0; i < 50; i++) {
      await gateway.address.create({ customerId: 'ada', company: `${i}` } as never)
    }
    const refused = await gateway.address.create({ customerId: 'ada', company: '50' } as never)
    expect(codesOf(refused)).toEqual(['91818'])
  })

  it('stores the address sent with a card under the customer, and refers to it from the card', async () => {
    const given = await startWithCustomer()
    const card = await keepCard(given, { billingAddress: HOME })
    const customer = await given.gateway.customer.find('ada')
    expect(customer.addresses).toMatchObject([{ id: card.billingAddress.id }])
    const { id } = card.billingAddress
    await given.gateway.address.update('ada', id, { region: 'Surrey' })
    const found = (await given.gateway.creditCard.find(card.token)) as unknown as WithAddress
    expect(found.billingAddress).toMatchObject({ id, region: 'Surrey' })
    await given.gateway.address.delete('ada', id)
    const without = (await given.gateway.creditCard.find(card.token)) as unknown as WithAddress
    expect(without.billingAddress).toBeNull()
  })

  it('accepts the id of an address for a card, unless the address belongs to another customer or a second address is sent', async () => {
    const given = await startWithCustomer()
    const { gateway } = given
    await gateway.customer.create({ id: 'eve' })
    const mine = await gateway.address.create({ customerId: 'ada', ...HOME } as never)
    const theirs = await gateway.address.create({ customerId: 'eve', ...HOME } as never)
    const billingAddressId = (mine.address as unknown as Address).id
    const card = await keepCard(given, { billingAddressId })
    expect(card.billingAddress.id).toBe(billingAddressId)
    const refused = async (extras: object) => {
      const card = { customerId: 'ada', number: '4111111111111111', expirationDate: '12/2030' }
      return codesOf(await gateway.creditCard.create({ ...card, ...extras } as never))
    }
    const foreign = (theirs.address as unknown as Address).id
    expect(await refused({ billingAddressId: foreign })).toEqual(['91702'])
    expect(await refused({ billingAddressId, billingAddress: HOME })).toEqual(['91701'])
  })

  it("gives a card a new address, or changes the card's existing address with update_existing", async () => {
    const given = await startWithCustomer()
    const card = await keepCard(given, { billingAddress: HOME })
    const update = async (billingAddress: object) => {
      const updated = await given.gateway.paymentMethod.update(card.token, {
        billingAddress,
      } as never)
      return (updated.paymentMethod as unknown as WithAddress).billingAddress
    }
    const changed = await update({ region: 'Surrey', options: { updateExisting: true } })
    expect(changed).toMatchObject({ id: card.billingAddress.id, ...HOME, region: 'Surrey' })
    const replaced = await update({ region: 'Kent' })
    expect(replaced.id).not.toBe(card.billingAddress.id)
    expect(replaced).toMatchObject({ region: 'Kent', streetAddress: null })
    expect((await given.gateway.customer.find('ada')).addresses).toHaveLength(2)
  })

  it('finds customers by their addresses, with and without a card', async () => {
    const { gateway } = await startWithCustomer()
    await gateway.address.create({ customerId: 'ada', ...HOME } as never)
    const found = await collect<{ id: string }>(
      gateway.customer.search((query: Record<string, () => { is(value: string): void }>) => {
        query.addressLocality?.().is('London')
        query.addressCountryName?.().is('United Kingdom')
      }),
    )
    expect(found.map(({ id }) => id)).toEqual(['ada'])
  })

  it("accepts the id of a customer's address in a sale", async () => {
    const given = await startWithCustomer()
    const { gateway } = given
    const { token } = await keepCard(given, {})
    const made = await gateway.address.create({ customerId: 'ada', ...HOME } as never)
    const { id } = made.address as unknown as Address
    const sale = { amount: '5.00', paymentMethodToken: token }
    const sold = await gateway.transaction.sale({ ...sale, shippingAddressId: id } as never)
    expect(sold.transaction).toMatchObject({ shipping: { id, locality: 'London' } })
    const refused = await gateway.transaction.sale({
      ...sale,
      shippingAddressId: 'nope',
    } as never)
    expect(codesOf(refused)).toEqual(['91581'])
  })

  it('keeps the addresses when the customer id changes, and deletes them with the customer', async () => {
    const given = await startWithCustomer()
    const { gateway, sandbox } = given
    const card = await keepCard(given, { billingAddress: HOME })
    await gateway.customer.update('ada', { id: 'countess' } as never)
    const { id } = card.billingAddress
    expect(await gateway.address.find('countess', id)).toMatchObject({ id })
    await gateway.customer.delete('countess')
    await gateway.customer.create({ id: 'countess' })
    await expect(gateway.address.find('countess', id)).rejects.toMatchObject({
      type: 'notFoundError',
    })
    expect(sandbox.customer('countess')).not.toBeNull()
  })
})
