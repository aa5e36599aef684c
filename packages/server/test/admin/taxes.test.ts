import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers, PROVIDERS } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'
import { operatorWithForms } from './page-forms.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
  accounts = createAccountHelpers(service)
})
afterAll(() => service?.stop())

const VAT = { type: 'eu_vat', value: 'DE123456789' }
const ADDRESS = { line1: 'Mill Lane 1', postal_code: '10115', city: 'Berlin', country: 'DE' }

describe('tax ids in the management API', () => {
  it('are added once, listed with the result of their verification, and removed', async () => {
    const support = await operators.operator('support')
    const { id } = await accounts.customer('stripe')
    const path = `/users/${id}/tax-ids`
    const added = await support.call('POST', path, { body: VAT })
    const taxId = {
      id: expect.any(String),
      ...VAT,
      country: 'DE',
      verification: expect.any(String),
    }
    expect(added).toMatchObject({ status: 200, body: taxId })
    expect((await support.call('POST', path, { body: VAT })).body.id).toBe(added.body.id)
    expect((await support.call('GET', path)).body).toEqual({ data: [taxId] })
    const removed = await support.call('DELETE', `${path}/${added.body.id}`)
    expect(removed.status).toBe(204)
    expect((await support.call('DELETE', `${path}/${added.body.id}`)).status).toBe(404)
    expect((await support.call('GET', path)).body).toEqual({ data: [] })
    const entries = await operators.entries('billing.addTaxId')
    expect(entries.slice(-4).map(({ outcome }) => outcome)).toEqual([
      'started',
      'done',
      'started',
      'done',
    ])
    expect(JSON.stringify(entries)).not.toContain(VAT.value)
  })

  it('are refused if they cannot be valid, to viewers, and for another person', async () => {
    const [viewer, support] = [
      await operators.operator('viewer'),
      await operators.operator('support'),
    ]
    const [one, two] = [await accounts.customer('stripe'), await accounts.customer('stripe')]
    const path = `/users/${one.id}/tax-ids`
    for (const body of [
      { type: 'eu_vat', value: 'nonsense' },
      { type: 'xx_none', value: '123' },
      { type: 'EU', value: '123' },
      { type: 'eu_vat', value: ' ' },
    ]) {
      expect((await support.call('POST', path, { body })).status, JSON.stringify(body)).toBe(422)
    }
    expect((await viewer.call('POST', path, { body: VAT })).status).toBe(403)
    const added = await support.call('POST', path, { body: VAT })
    const foreign = await support.call('DELETE', `/users/${two.id}/tax-ids/${added.body.id}`)
    expect(foreign.status).toBe(404)
    expect((await viewer.call('GET', path)).body.data).toHaveLength(1)
  })

  it('are not available at Braintree', async () => {
    const support = await operators.operator('support')
    const { id } = await accounts.customer('braintree')
    const path = `/users/${id}/tax-ids`
    expect((await support.call('GET', path)).body).toEqual({ data: [] })
    expect((await support.call('POST', path, { body: VAT })).status).toBe(409)
    const body = { tax_exempt: 'exempt' }
    expect((await support.call('PUT', `/users/${id}/tax-exempt`, { body })).status).toBe(409)
    const customer = await support.call('GET', `/users/${id}/customer`)
    expect(customer.body).toMatchObject({ tax_exempt: null, supports: ['address'] })
  })
})

describe('the tax treatment and the address of a person in the management API', () => {
  it('are set, and shown with the customer', async () => {
    const support = await operators.operator('support')
    const { id } = await accounts.customer('stripe')
    const show = async () => (await support.call('GET', `/users/${id}/customer`)).body
    expect(await show()).toMatchObject({
      tax_exempt: 'none',
      address: null,
      supports: ['balance', 'tax_ids', 'tax_exempt', 'address', 'credit_notes'],
    })
    const body = { tax_exempt: 'reverse' }
    expect((await support.call('PUT', `/users/${id}/tax-exempt`, { body })).body).toEqual(body)
    expect(await show()).toMatchObject({ tax_exempt: 'reverse' })
    const wrong = { body: { tax_exempt: 'sometimes' } }
    expect((await support.call('PUT', `/users/${id}/tax-exempt`, wrong)).status).toBe(422)
  })

  it.each(PROVIDERS)('replace the whole address at %s', async (provider) => {
    const support = await operators.operator('support')
    const { id } = await accounts.customer(provider)
    const path = `/users/${id}/address`
    const put = (body: object) => support.call('PUT', path, { body })
    expect((await put(ADDRESS)).body).toEqual(ADDRESS)
    const moved = { line1: 'Hill 3', city: 'York', country: 'GB' }
    expect((await put({ ...moved, state: ' ' })).body).toEqual(moved)
    expect((await support.call('GET', `/users/${id}/customer`)).body.address).toEqual(moved)
    expect((await put({ ...moved, country: 'Germany' })).body.errors).toHaveProperty('country')
    expect((await put({ street: 'Hill 3' })).status).toBe(422)
    expect((await put({})).body).toEqual({})
    const logged = JSON.stringify(await operators.entries('billing.setAddress'))
    expect(logged).not.toContain('York')
  })

  it('require that the person is a customer', async () => {
    const support = await operators.operator('support')
    const { id } = await operators.person()
    const refused = await support.call('PUT', `/users/${id}/address`, { body: ADDRESS })
    expect(refused.status).toBe(409)
  })
})

describe("the operators' pages about taxes", () => {
  it('add and remove a tax id, and change the tax treatment and the address', async () => {
    const support = await operatorWithForms(service, 'support')
    const { id } = await accounts.customer('stripe')
    const page = `/admin/people/${id}`
    const wrong = await support.submit(`${page}/add-tax-id`, { type: 'eu_vat', value: 'nonsense' })
    expect([wrong.status, wrong.html]).toEqual([422, expect.stringContaining('value="nonsense"')])
    const added = await support.submit(`${page}/add-tax-id`, VAT)
    expect(added.location).toBe(`${page}?done=tax-id-added`)
    const shown = (await support.open(page)).html
    expect(shown).toContain(VAT.value)
    expect(shown).toContain('VAT number (European Union)')
    const [, remove = ''] = /href="([^"]+remove-tax-id[^"]+)"/.exec(shown) ?? []
    expect((await support.submit(remove)).location).toBe(`${page}?done=tax-id-removed`)
    await support.submit(`${page}/tax-exempt`, { tax_exempt: 'exempt' })
    const { postal_code } = ADDRESS
    await support.submit(`${page}/address`, { ...ADDRESS, postal_code, country: 'de' })
    const now = (await support.open(`${page}?done=address-set`)).html
    expect(now).toContain('Mill Lane 1, 10115, Berlin, DE')
    expect(now).toContain('Pays no tax')
    expect(now).toContain('There are no tax IDs.')
    expect((await support.open(`${page}/address`)).html).toContain('value="Mill Lane 1"')
  })

  it('let operators change only the address of a Braintree customer, and let viewers change nothing', async () => {
    const support = await operatorWithForms(service, 'support')
    const viewer = await operatorWithForms(service, 'viewer')
    const [stripe, braintree] = [
      await accounts.customer('stripe'),
      await accounts.customer('braintree'),
    ]
    const acts = ['add-tax-id', 'tax-exempt', 'address']
    const offered = async (who: typeof support, id: string) => {
      const { html } = await who.open(`/admin/people/${id}`)
      return acts.filter((act) => html.includes(`/admin/people/${id}/${act}"`))
    }
    expect(await offered(support, stripe.id)).toEqual(acts)
    expect(await offered(support, braintree.id)).toEqual(['address'])
    expect(await offered(viewer, stripe.id)).toEqual([])
  })
})
