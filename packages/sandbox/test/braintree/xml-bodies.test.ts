import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseXml } from '../../src/braintree/wire/xml-parse.ts'
import { type Merchant, startMerchant } from './support.ts'

/**
 * Sends a body as an SDK in another language would, and parses the response with our own parser.
 */
async function send(
  { sandbox }: Merchant,
  method: string,
  path: string,
  body?: string | Uint8Array,
): Promise<{ status: number; read: Record<string, unknown> }> {
  const { publicKey, privateKey, merchantId } = sandbox.config
  const auth = Buffer.from(`${publicKey}:${privateKey}`).toString('base64')
  const response = await fetch(`${sandbox.url}/merchants/${merchantId}${path}`, {
    method,
    headers: { authorization: `Basic ${auth}`, 'content-type': 'application/xml' },
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, read: bytes.length > 0 ? parseXml(bytes) : {} }
}

describe('requests to Braintree from SDKs that send XML', () => {
  it("create a customer with a card, in Python's notation: names with underscores, entities, no XML declaration", async () => {
    const merchant = await startMerchant()
    const { status, read } = await send(
      merchant,
      'POST',
      '/customers',
      `<customer><id>ada</id><first_name>A&#233;da &amp; Co</first_name><email></email><credit_card>` +
        `<number>4111111111111111</number><expiration_date>12/2030</expiration_date>` +
        `<options><verify_card type="boolean">true</verify_card></options></credit_card></customer>`,
    )
    expect(status).toBe(201)
    expect(read).toMatchObject({
      customer: {
        id: 'ada',
        first_name: 'Aéda & Co',
        email: null,
        credit_cards: [{ last_4: '1111', verifications: [{ status: 'verified' }] }],
      },
    })
  })

  it("create a customer with a card, in Java's notation: camelCase names, no type attributes", async () => {
    const merchant = await startMerchant()
    const { status, read } = await send(
      merchant,
      'POST',
      '/customers',
      `<customer><creditCard><billingAddress><countryCodeAlpha2>FR</countryCodeAlpha2>` +
        `<streetAddress>1 Rue Ada</streetAddress></billingAddress>` +
        `<expirationDate>12/2030</expirationDate><number>4111111111111111</number>` +
        `<options><verifyCard>true</verifyCard></options></creditCard>` +
        `<firstName>Ada</firstName></customer>`,
    )
    expect(status).toBe(201)
    expect(read).toMatchObject({
      customer: {
        first_name: 'Ada',
        addresses: [{ country_code_alpha2: 'FR', street_address: '1 Rue Ada' }],
        credit_cards: [{ last_4: '1111', verifications: [{ status: 'verified' }] }],
      },
    })
  })

  it("create a subscription, in Ruby's notation: indented, names with dashes, type attributes and nil", async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    await gateway.customer.create({
      creditCard: { token: 'tok', number: '4111111111111111', expirationDate: '12/2030' },
    } as never)
    const { status, read } = await send(
      merchant,
      'POST',
      '/subscriptions',
      `<?xml version="1.0" encoding="UTF-8"?>
<subscription>
  <id>s</id>
  <plan-id>monthly</plan-id>
  <payment-method-token>tok</payment-method-token>
  <number-of-billing-cycles type="integer">3</number-of-billing-cycles>
  <first-billing-date type="datetime">2026-02-01T00:00:00Z</first-billing-date>
  <never-expires type="boolean">false</never-expires>
  <merchant-account-id nil="true"/>
  <add-ons>
    <add type="array">
      <item>
        <inherited-from-id>seats</inherited-from-id>
        <quantity type="integer">2</quantity>
      </item>
    </add>
  </add-ons>
  <options>
  </options>
</subscription>
`,
    )
    expect(status).toBe(201)
    expect(read).toMatchObject({
      subscription: {
        price: '10.00',
        first_billing_date: '2026-02-01',
        number_of_billing_cycles: 3,
        add_ons: [{ id: 'seats', quantity: 2 }],
      },
    })
  })

  it("search in Java's notation, and read pages of results by id", async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    for (const id of ['ada', 'bob']) await gateway.customer.create({ id, lastName: 'King' })
    const search =
      '<search><last-name><is>King</is></last-name><ids type="array"><item>ada</item></ids></search>'
    const first = await send(merchant, 'POST', '/customers/advanced_search_ids', search)
    expect(first.read).toMatchObject({ search_results: { page_size: 50, ids: ['ada'] } })
    const second = await send(merchant, 'POST', '/customers/advanced_search', search)
    expect(second.read).toMatchObject({ customers: { customer: { id: 'ada' } } })
  })

  it('may contain a date with a time zone offset', async () => {
    const merchant = await startMerchant()
    await merchant.gateway.customer.create({
      creditCard: { token: 'tok', number: '4111111111111111', expirationDate: '12/2030' },
    } as never)
    const { read } = await send(
      merchant,
      'POST',
      '/subscriptions',
      '<subscription><plan-id>monthly</plan-id><payment-method-token>tok</payment-method-token>' +
        '<first-billing-date type="datetime">2026-02-01T01:00:00+02:00</first-billing-date></subscription>',
    )
    expect(read).toMatchObject({ subscription: { first_billing_date: '2026-01-31' } })
  })

  it('are rejected by an XML response that repeats the parameters without the card number', async () => {
    const merchant = await startMerchant()
    const { status, read } = await send(
      merchant,
      'POST',
      '/customers',
      '<customer><email>none</email><credit-card><number>4111</number></credit-card></customer>',
    )
    expect(status).toBe(422)
    expect(read).toMatchObject({
      api_error_response: {
        errors: { customer: { errors: [{ code: '81604', attribute: 'email' }] } },
        params: { customer: { email: 'none' } },
      },
    })
    expect(JSON.stringify(read)).not.toContain('4111')
  })

  it('find and delete objects without sending a body', async () => {
    const merchant = await startMerchant()
    await merchant.gateway.customer.create({ id: 'ada' })
    expect((await send(merchant, 'GET', '/customers/ada')).status).toBe(200)
    expect((await send(merchant, 'DELETE', '/customers/ada')).status).toBe(200)
    expect((await send(merchant, 'GET', '/customers/ada')).status).toBe(404)
  })

  it.each([
    ['not XML', '{"customer":{}}'],
    ['a document type', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><customer/>'],
    ['an entity bomb', '<!DOCTYPE a [<!ENTITY b "c">]><customer><id>&b;</id></customer>'],
    ['too deep', `${'<customer>'.repeat(30)}${'</customer>'.repeat(30)}`],
  ])('get 400 if the body is %s', async (_, body) => {
    const merchant = await startMerchant()
    expect((await send(merchant, 'POST', '/customers', body)).status).toBe(400)
    expect(merchant.sandbox.customers()).toHaveLength(0)
  })

  it('get a response whatever the XML contains, and never crash the server', async () => {
    const merchant = await startMerchant()
    const text = fc.constantFrom('ada', '', '1.00', 'true', '&lt;', 'é', '2026-01-31', '-1')
    const type = fc.constantFrom('', ' type="array"', ' type="integer"', ' nil="true"', ' type="x"')
    const name = fc.constantFrom(
      ...'customer id email credit-card number options billing-address transaction amount'.split(
        ' ',
      ),
      ...'type subscription plan-id add-ons add item search ids is min constructor'.split(' '),
    )
    const node = fc.letrec<{ any: string }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'medium' },
        text,
        fc
          .tuple(name, type, fc.array(tie('any'), { maxLength: 3 }))
          .map(([tag, attributes, inside]) => `<${tag}${attributes}>${inside.join('')}</${tag}>`),
      ),
    })).any
    const path = fc.constantFrom(
      '/customers',
      '/customers/advanced_search_ids',
      '/payment_methods',
      '/subscriptions',
      '/transactions',
      '/verifications',
      '/plans',
      '/client_token',
    )
    await fc.assert(
      fc.asyncProperty(path, node, async (to, body) => {
        const { status } = await send(merchant, 'POST', to, body)
        expect([200, 201, 400, 403, 422]).toContain(status)
      }),
      { numRuns: 300 },
    )
  })
})
